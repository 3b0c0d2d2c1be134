package import RedisProtocol

/// The books of one job.
package struct ReadJobRecord: Request {
    package var job: String

    package init(job: String) { self.job = job }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HGETALL")
        command.append(keys.jobRecord(job))
    }

    /// A job's fields; empty if there is no such job record. ``Account/init(id:app:fields:)`` reads them.
    package static func read(_ value: RESPValue) throws(StoreError) -> [String: String] {
        var reader = try ReplyReader(value, "job record")
        var fields: [String: String] = [:]
        while !reader.isAtEnd { fields[try reader.text()] = try reader.text() }
        return fields
    }
}

extension JobRecord {
    /// Nil if the fields are not those of a job record.
    package init?(id: String, app: String, fields: [String: String]) {
        guard let state = fields["state"].flatMap(State.init(rawValue:)) else { return nil }
        self.init(id: id, app: app, state: state)
        func number(_ name: String) -> Int { fields[name].flatMap { Int(foreign: $0) } ?? 0 }
        submitted = number("submitted")
        accepted = number("accepted")
        malformed = number("malformed")
        duplicates = number("duplicates")
        delivered = number("delivered")
        failed = number("failed")
        expired = number("expired")
        cancelled = number("cancelled")
        inFlight = number("in_flight")
        waiting = number("delayed")
        maybeDuplicated = number("maybe_duplicated")
        crashes = number("crashes")
        parked = fields["paused_reason"]
        replayOf = fields["replay_of"]
        warning = fields["warning"]
        replayed = number("replayed")
        createdAt = Int64(number("created_at"))
        lastAt = Int64(number("last_outcome_at"))
        finishedAt = fields["finished_at"].flatMap { Int64(foreign: $0) }
        for (name, count) in fields where name.hasPrefix("reason:") {
            reasons[String(name.dropFirst(7))] = Int(foreign: count) ?? 0
        }
    }
}

/// Ids of jobs, latest first. A job record may be gone when it is read.
package struct LatestJobs: Request {
    package var start: Int
    package var count: Int

    /// - Parameter start: so many are passed over.
    package init(from start: Int = 0, count: Int) { (self.start, self.count) = (start, count) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("ZREVRANGE")
        command.append(keys.jobs)
        command.append(start)
        command.append(start + count - 1)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [String] {
        var reader = try ReplyReader(value, "jobs")
        return try reader.remainingTexts()
    }
}

/// How much waits where in an app.
package struct ReadDepths: Request {
    package struct Reply: Equatable, Sendable {
        /// Jobs.
        package let inbox: Int
        package let taken: Int
        /// Batches.
        package let delayed: Int
        /// Entries.
        package let results: Int
        /// Batches.
        package let parked: Int
        /// Pushes that are in a batch or in an entry.
        package let open: Int
        /// Batches of each shard.
        package let shards: [Shard]

        /// Of a farm of so many shards in which nothing waits.
        package static func empty(shards: Int) -> Reply {
            Reply(
                inbox: 0, taken: 0, delayed: 0, results: 0, parked: 0, open: 0,
                shards: Array(repeating: Shard(high: 0, bulk: 0, flight: 0), count: shards))
        }
    }

    package struct Shard: Equatable, Sendable {
        package let high: Int
        package let bulk: Int
        package let flight: Int
    }

    package static var script: Script? { .depths }

    package var shards: Int

    package init(shards: Int) { self.shards = shards }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys, inbox: ())
        command.append(shards)
    }

    package func plain(_ keys: Keys) -> [RESPCommand] {
        [
            RESPCommand("LLEN", key: keys.inbox), RESPCommand("LLEN", key: keys.taken),
            RESPCommand("ZCARD", key: keys.delayed), RESPCommand("XLEN", key: keys.results),
            RESPCommand("LLEN", key: keys.paused), RESPCommand("HGET", key: keys.load, "open"),
        ] + (0..<max(0, shards)).flatMap { keys.batchLists($0).map { RESPCommand("LLEN", key: $0) } }
    }

    package func readPlain(_ answers: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        var numbers = answers
        guard numbers.count > 5 else { throw .unexpectedReply("depths, short") }
        // A field that is not there counts as 0.
        numbers[5] = .integer(numbers[5].text.flatMap { Int64(foreign: $0) } ?? 0)
        return try Self.read(.array(numbers))
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "depths")
        let (inbox, taken) = (try reader.integer(), try reader.integer())
        let (delayed, results) = (try reader.integer(), try reader.integer())
        let (parked, open) = (try reader.integer(), try reader.integer())
        var shards: [Shard] = []
        while !reader.isAtEnd {
            shards.append(
                Shard(high: try reader.integer(), bulk: try reader.integer(), flight: try reader.integer()))
        }
        return Reply(
            inbox: inbox, taken: taken, delayed: delayed, results: results, parked: parked, open: open,
            shards: shards)
    }
}

/// Puts a job into the inbox. Not to be repeated blindly: a job without an id would come twice.
package struct Submit: Request {
    package var job: [UInt8]

    package init(job: [UInt8]) { self.job = job }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("RPUSH")
        command.append(keys.inbox)
        command.append(job)
    }

    /// Jobs in the inbox.
    package static func read(_ value: RESPValue) throws(StoreError) -> Int {
        guard let length = value.integer else { throw .unexpectedReply("push") }
        return Int(length)
    }
}
