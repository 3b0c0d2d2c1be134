package import RedisProtocol

/// Checks an app's accounting, atomically. Takes time in proportion to what is queued, about 15 ms for 1,000 batches, and
/// to the job records that it looks at.
package struct CheckAccounting: Request {
    package static var script: Script? { .checkAccounting }
    /// Faults in words; empty when all is well.
    package typealias Reply = [String]

    package let words: [any CommandWord]

    /// - Parameter jobs: the job records to look at, besides those of jobs that are in queues; nil for all.
    package init(shards: Int, jobs: [String]? = nil) {
        words = [ScriptKeys.prefix, shards, jobs == nil ? "all" : "jobs", WordList(jobs ?? [])]
    }
}

/// Checks the lists of one shard, or everything else: atomic for that part only.
package struct CheckAccountingPart: Request {
    /// Positions of one job.
    package struct Sums: Equatable, Sendable {
        /// In batches or in unsettled entries.
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
        /// Ids of the batches that lists name.
        package let batches: [String]
    }

    package static var script: Script? { .checkAccounting }

    package let words: [any CommandWord]

    /// - Parameter shard: nil for what is in no shard's lists.
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

/// Finds the job records to compare with the queues: of jobs that are not finished, and those that contradict themselves.
package struct ScanJobRecords: Request {
    package static var script: Script? { .checkAccounting }

    /// About 15 microseconds each.
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

/// Repairs what an audit names.
package struct Repair: Request {
    package enum Target: Equatable, Sendable {
        /// A batch: in one list, with true counts, or out of the way.
        case batch(String)
        /// The job records of these jobs and of those in queues, or all (nil), so that they are what is there. One moment of
        /// the whole app.
        case jobRecords([String]?)
    }

    package static var script: Script? { .repair }
    /// What was done, in words.
    package typealias Reply = [String]

    package let words: [any CommandWord]

    /// - Parameter jobRecordSeconds: how long the record of a job that the repair finishes is kept.
    package init(_ target: Target, shards: Int, jobRecordSeconds: Int = Retention().jobRecordSeconds) {
        let subject: [any CommandWord] =
            switch target {
            case .batch(let id): ["batch", id]
            case .jobRecords(let jobs): [jobs == nil ? "job_records" : "jobs", WordList(jobs ?? [])]
            }
        words = [ScriptKeys.prefix, shards, jobRecordSeconds, WordList(subject)]
    }
}
