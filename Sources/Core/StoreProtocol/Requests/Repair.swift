package import RedisProtocol

/// Repairs what an audit names.
package struct Repair: Request {
    package enum Target: Equatable, Sendable {
        /// A batch: in one list, with true counts, or out of the way.
        case batch(String)
        /// The accounts of these jobs and of those in queues, or all (nil), so that they are what is there. One moment of
        /// the whole app.
        case accounts([String]?)
    }

    package static var script: Script? { .repair }

    package var target: Target
    package var shards: Int
    /// How long the account of a job stays that ends with the repair.
    package var accountSeconds: Int

    package init(_ target: Target, shards: Int, accountSeconds: Int = Retention().accountSeconds) {
        (self.target, self.shards, self.accountSeconds) = (target, shards, accountSeconds)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(shards)
        command.append(accountSeconds)
        switch target {
        case .batch(let id):
            command.append("batch")
            command.append(id)
        case .accounts(let jobs):
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
