package import RESP

/// Checks an app's books, all in one moment. Takes time in proportion to what is queued, about 15 ms for 1,000 batches, and
/// to the accounts that it looks at.
package struct Audit: Request {
    package static var script: Script? { .audit }

    package var shards: Int
    /// The accounts to look at, besides those of jobs that are in queues; nil for all.
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

/// Finds the accounts that have to be held against the queues: a part of them a call, all of them by and by.
package struct ScanAccounts: Request {
    package struct Reply: Equatable, Sendable {
        /// Jobs that are not finished, or whose account is wrong by itself.
        package let jobs: [String]
        /// Where the next call begins; nil at the end.
        package let next: String?
    }

    package static var script: Script? { .audit }

    /// About 15 microseconds each.
    private static let page = 250

    package var shards: Int
    package var cursor: String

    package init(shards: Int, cursor: String = "0") { (self.shards, self.cursor) = (shards, cursor) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(shards)
        command.append("accounts")
        command.append(cursor)
        command.append(Self.page)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "audit, accounts")
        let cursor = try reader.text()
        var jobs: [String] = []
        while !reader.isAtEnd { jobs.append(try reader.text()) }
        return Reply(jobs: jobs, next: cursor == "0" ? nil : cursor)
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

/// Repairs what an audit names.
package struct Mend: Request {
    package enum Target: Equatable, Sendable {
        /// A batch: in one list, with true counts, or out of the way.
        case batch(String)
        /// The accounts of these jobs and of those in queues, or all (nil), so that they are what is there. One moment of
        /// the whole app.
        case accounts([String]?)
    }

    package static var script: Script? { .mend }

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
        var reader = try ReplyReader(value, "mend")
        var done: [String] = []
        while !reader.isAtEnd { done.append(try reader.text()) }
        return done
    }
}

/// Some of the ids of all batches that have a state.
package struct ScanBatches: Request {
    package struct Reply: Equatable, Sendable {
        package let batches: [String]
        /// Where the next call begins; nil at the end.
        package let next: String?
    }

    package var cursor: String

    package init(cursor: String = "0") { self.cursor = cursor }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HSCAN")
        command.append(keys.states)
        command.append(cursor)
        command.append("COUNT")
        command.append(500)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "scan")
        let cursor = try reader.text()
        let words = try reader.texts()
        return Reply(
            batches: stride(from: 0, to: words.count, by: 2).map { words[$0] },
            next: cursor == "0" ? nil : cursor)
    }
}
