package import RedisProtocol

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

    package var target: Target
    package var shards: Int
    /// How long the job record of a job stays that ends with the repair.
    package var jobRecordSeconds: Int

    package init(_ target: Target, shards: Int, jobRecordSeconds: Int = Retention().jobRecordSeconds) {
        (self.target, self.shards, self.jobRecordSeconds) = (target, shards, jobRecordSeconds)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(shards)
        command.append(jobRecordSeconds)
        switch target {
        case .batch(let id):
            command.append("batch")
            command.append(id)
        case .jobRecords(let jobs):
            command.append(jobs == nil ? "accounts" : "jobs")
            for job in jobs ?? [] { command.append(job) }
        }
    }

    /// What was done, in words.
    package static func read(_ value: RESPValue) throws(StoreError) -> [String] {
        var reader = try ReplyReader(value, "repair")
        var done: [String] = []
        while !reader.isAtEnd { done.append(try reader.text()) }
        return done
    }
}
