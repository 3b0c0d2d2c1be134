package import RedisProtocol

/// Checks an app's accounting atomically. The time grows with the queues, about 15 ms for 1,000 batches, and with the number
/// of job records that are checked.
package struct CheckAccounting: Request {
    package static var script: Script? { .checkAccounting }
    /// The faults as text; empty if there are none.
    package typealias Reply = [String]

    package let words: [any CommandWord]

    /// - Parameter jobs: job records to check, besides those of jobs in queues; nil for all.
    package init(shards: Int, jobs: [String]? = nil) {
        words = [ScriptKeys.prefix, shards, jobs == nil ? "all" : "jobs", WordList(jobs ?? [])]
    }
}

/// Checks the lists of one shard, or everything else. Only this part is checked atomically.
package struct CheckAccountingPart: Request {
    /// The numbers of positions of one job.
    package struct Sums: Equatable, Sendable {
        /// Positions in batches or in unsettled entries.
        package var open = 0
        package var inFlight = 0
        package var delayed = 0

        package init() {}

        package static func += (left: inout Sums, right: Sums) {
            left.open += right.open
            left.inFlight += right.inFlight
            left.delayed += right.delayed
        }
    }

    package struct Reply: Equatable, Sendable {
        package let faults: [String]
        package let jobs: [String: Sums]
        /// Ids of the batches in the lists.
        package let batches: [String]
    }

    package static var script: Script? { .checkAccounting }

    package let words: [any CommandWord]

    /// - Parameter shard: the shard; nil checks everything that is in no shard's lists.
    package init(shards: Int, shard: Int?) {
        words = [ScriptKeys.prefix, shards, shard.map { LeaseField.name(ofShard: $0) } ?? "rest"]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let faults = try reader.texts()
        var numbers = try reader.part()
        var jobs: [String: Sums] = [:]
        while !numbers.isAtEnd {
            let job = try numbers.text()
            var sums = Sums()
            sums.open = try numbers.integer()
            sums.inFlight = try numbers.integer()
            sums.delayed = try numbers.integer()
            jobs[job] = sums
        }
        return Reply(faults: faults, jobs: jobs, batches: try reader.texts())
    }
}

/// Finds job records to compare with the queues: those of unfinished jobs, and those with contradictory counts.
package struct ScanJobRecords: Request {
    package static var script: Script? { .checkAccounting }

    /// Job records in one call; each takes about 15 microseconds.
    private static let page = 250

    package let words: [any CommandWord]

    package init(shards: Int, cursor: String = "0") {
        words = [ScriptKeys.prefix, shards, "job_records", cursor, Self.page]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> ScanPage<String> {
        var reader = try ReplyReader(value, Self.self)
        let cursor = try reader.text()
        return ScanPage(items: try reader.remainingTexts(), next: cursor == "0" ? nil : cursor)
    }
}

/// Repairs the faults that an accounting check found.
package struct Repair: Request {
    package enum Target: Equatable, Sendable {
        /// One batch: puts it into exactly one list and corrects its counts, or moves it away if it cannot be read.
        case batch(String)
        /// Job records of these jobs and of jobs in queues, or all job records (nil). Their counts are set to the real
        /// numbers, in one atomic step for the whole app.
        case jobRecords([String]?)
    }

    package static var script: Script? { .repair }
    /// The repairs that were made, as text.
    package typealias Reply = [String]

    package let words: [any CommandWord]

    /// - Parameter jobRecordSeconds: how long to keep the record of a job that the repair finishes.
    package init(_ target: Target, shards: Int, jobRecordSeconds: Int = Retention().jobRecordSeconds) {
        let subject: [any CommandWord] =
            switch target {
            case .batch(let id): ["batch", id]
            case .jobRecords(let jobs): [jobs == nil ? "job_records" : "jobs", WordList(jobs ?? [])]
            }
        words = [ScriptKeys.prefix, shards, jobRecordSeconds, WordList(subject)]
    }
}
