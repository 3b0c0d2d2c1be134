package import RedisProtocol

/// Checks an app's books, all in one moment. Takes time in proportion to what is queued, about 15 ms for 1,000 batches, and
/// to the job records that it looks at.
package struct Audit: Request {
    package static var script: Script? { .audit }

    package var shards: Int
    /// The job records to look at, besides those of jobs that are in queues; nil for all.
    package var jobs: [String]?

    package init(shards: Int, jobs: [String]? = nil) { (self.shards, self.jobs) = (shards, jobs) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(shards)
        command.append(jobs == nil ? "all" : "jobs")
        for job in jobs ?? [] { command.append(job) }
    }

    /// Faults in words; empty when all is well.
    package static func read(_ value: RESPValue) throws(StoreError) -> [String] {
        var reader = try ReplyReader(value, "audit")
        var faults: [String] = []
        while !reader.isAtEnd { faults.append(try reader.text()) }
        return faults
    }
}

/// Checks the lists of one shard, or what is in no shard's lists: one moment of that part only.
package struct AuditPart: Request {
    /// Positions of one job.
    package struct Sums: Equatable, Sendable {
        /// In batches or in unsettled entries.
        package var open = 0
        package var inFlight = 0
        package var waiting = 0

        package init() {}

        package static func += (left: inout Sums, right: Sums) {
            left.open += right.open
            left.inFlight += right.inFlight
            left.waiting += right.waiting
        }
    }

    package struct Reply: Equatable, Sendable {
        package let faults: [String]
        package let jobs: [String: Sums]
        /// Ids of the batches that lists name.
        package let batches: [String]
    }

    package static var script: Script? { .audit }

    package var shards: Int
    /// Nil for what is in no shard's lists.
    package var shard: Int?

    package init(shards: Int, shard: Int?) { (self.shards, self.shard) = (shards, shard) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(shards)
        command.append(shard.map { LeaseField.name(ofShard: $0) } ?? "rest")
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "audit")
        let faults = try reader.texts()
        var numbers = try ReplyReader(reader.next(), "audit, sums")
        var jobs: [String: Sums] = [:]
        while !numbers.isAtEnd {
            let job = try numbers.text()
            var sums = Sums()
            sums.open = try numbers.integer()
            sums.inFlight = try numbers.integer()
            sums.waiting = try numbers.integer()
            jobs[job] = sums
        }
        return Reply(faults: faults, jobs: jobs, batches: try reader.texts())
    }
}
