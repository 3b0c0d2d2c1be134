package import RedisProtocol

/// Checks an app's accounting atomically. The check takes about 15 ms for 1,000 batches in the queues, plus the time for the job
/// records that it checks.
package struct CheckAccounting: Request {
    package static var script: Script? { .checkAccounting }
    /// The faults as text; empty if there are none.
    package typealias Reply = [String]

    package let words: [any CommandArgument]

    /// - Parameter jobs: jobs whose records are checked in addition to the records of jobs with pushes in queues; nil checks all
    ///   job records.
    package init(shards: Int, jobs: [String]? = nil) {
        words = [ScriptKeys.prefix, shards, jobs == nil ? "all" : "jobs", ArgumentList(jobs ?? [])]
    }
}

/// Checks either the lists of one shard, or all data outside of the shards' lists. The check of one part is atomic, but not the
/// check of all parts together.
package struct CheckAccountingPart: Request {
    /// How many positions one job has in the checked part.
    package struct Sums: Equatable, Sendable {
        /// Positions in batches, and positions in results entries that are not settled.
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

    package let words: [any CommandArgument]

    /// - Parameter shard: the shard; nil checks all data outside of the shards' lists.
    package init(shards: Int, shard: Int?) {
        words = [ScriptKeys.prefix, shards, shard.map { LeaseID.name(ofShard: $0) } ?? "rest"]
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

/// Finds job records to compare with the queues: the records of unfinished jobs, and records whose counts contradict each other.
package struct ScanJobRecords: Request {
    package static var script: Script? { .checkAccounting }

    /// Maximum number of job records in one call. Each job record takes about 15 microseconds.
    private static let page = 250

    package let words: [any CommandArgument]

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
        /// Puts one batch into exactly one list and corrects the batch's counts. A batch that cannot be read is moved to
        /// `unreadable`.
        case batch(String)
        /// Sets the counts in job records to the real numbers, in one atomic step for the whole app. This changes the records of
        /// these jobs and of all jobs with pushes in queues; nil means all job records.
        case jobRecords([String]?)
    }

    package static var script: Script? { .repair }
    /// The repairs that were made, as text.
    package typealias Reply = [String]

    package let words: [any CommandArgument]

    /// - Parameter jobRecordSeconds: how long to keep the record of a job that the repair finishes.
    package init(_ target: Target, shards: Int, jobRecordSeconds: Int = Retention().jobRecordSeconds) {
        let subject: [any CommandArgument] =
            switch target {
            case .batch(let id): ["batch", id]
            case .jobRecords(let jobs): [jobs == nil ? "job_records" : "jobs", ArgumentList(jobs ?? [])]
            }
        words = [ScriptKeys.prefix, shards, jobRecordSeconds, ArgumentList(subject)]
    }
}
