package import PushModel
package import RedisProtocol

/// Reads the lengths of an app's queues.
package struct ReadDepths: Request {
    package struct Reply: Equatable, Sendable {
        /// Number of jobs in the inbox.
        package let inbox: Int
        /// Number of jobs that the intake took and has not completely split, jobs that wait for a look-up included.
        package let taken: Int
        /// Number of delayed batches.
        package let delayed: Int
        /// Number of entries in the results stream.
        package let results: Int
        /// Number of paused batches.
        package let paused: Int
        /// Number of pushes that are in a batch or in a results entry.
        package let open: Int
        /// For each shard, the number of ready batches of each lane, and the number of batches that workers checked
        /// out.
        package let shards: [Shard]

        /// The reply for an app with this number of shards whose queues are all empty.
        package static func empty(shards: Int) -> Reply {
            Reply(
                inbox: 0, taken: 0, delayed: 0, results: 0, paused: 0, open: 0,
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

    package var words: [any CommandArgument] { [ScriptKeys.prefixAndInbox, shards] }

    package func plain(_ keys: Keys) -> [RESPCommand] {
        [
            RESPCommand("LLEN", key: keys.lookups),
            RESPCommand("LLEN", key: keys.inbox), RESPCommand("LLEN", key: keys.taken),
            RESPCommand("ZCARD", key: keys.delayed), RESPCommand("XLEN", key: keys.results),
            RESPCommand("LLEN", key: keys.paused), RESPCommand("HGET", key: keys.load, "open"),
        ] + (0..<max(0, shards)).flatMap { keys.batchLists($0).map { RESPCommand("LLEN", key: $0) } }
    }

    package func readPlain(_ replies: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        var numbers = Array(replies.dropFirst())
        guard numbers.count > 5 else { throw .unexpectedReply("\(Self.self), short") }
        let lookups = replies.first?.integer ?? 0
        numbers[1] = .integer((numbers[1].integer ?? 0).adding(saturating: lookups))
        // The field `open` is missing before the app's first job.
        numbers[5] = .integer(numbers[5].text.flatMap { Int64(foreign: $0) } ?? 0)
        return try Self.read(.array(numbers))
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let (inbox, taken) = (try reader.integer(), try reader.integer())
        let (delayed, results) = (try reader.integer(), try reader.integer())
        let (paused, open) = (try reader.integer(), try reader.integer())
        var shards: [Shard] = []
        while !reader.isAtEnd {
            shards.append(
                Shard(high: try reader.integer(), bulk: try reader.integer(), flight: try reader.integer()))
        }
        return Reply(
            inbox: inbox, taken: taken, delayed: delayed, results: results, paused: paused, open: open,
            shards: shards)
    }
}

/// Reads, for each lane, the age of the oldest push in a ready batch or in a batch that a worker checked out.
package struct ReadAges: Request {
    package struct Reply: Equatable, Sendable {
        /// The age in lane high; nil if the lane is empty. The age counts from the split of the job, from the due time of a
        /// delayed push, or from the previous attempt.
        package let high: Duration?
        package let bulk: Duration?

        package init(high: Duration?, bulk: Duration?) { (self.high, self.bulk) = (high, bulk) }

        package var oldest: Duration? { [high, bulk].compactMap(\.self).max() }

        package subscript(lane: Lane) -> Duration? { lane == .high ? high : bulk }
    }

    package static var script: Script? { .ages }

    /// The number of shards of the farm.
    package var shards: Int

    package init(shards: Int) { self.shards = shards }

    package var words: [any CommandArgument] { [ScriptKeys.prefix, shards] }

    package func plain(_ keys: Keys) -> [RESPCommand] {
        [RESPCommand("TIME")]
            + (0..<max(0, shards)).flatMap {
                keys.batchLists($0).map { RESPCommand("LINDEX", key: $0, "0") }
            }
    }

    package func readPlain(_ replies: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        guard let now = replies.first?.time else { throw .unexpectedReply("\(Self.self), the time") }
        var ages: [Lane: Duration] = [:]
        for (index, reply) in replies.dropFirst().enumerated() {
            let id = BatchID(reply.bytes ?? [])
            guard let since = id.madeAt else { continue }
            // Each shard has three lists: lane high, lane bulk, and a list of checked-out batches of both lanes.
            let lane = index % 3 == 0 ? Lane.high : index % 3 == 1 ? .bulk : id.lane ?? .high
            let age = Duration.milliseconds(now) - .milliseconds(since)
            ages[lane] = max(ages[lane] ?? .zero, age)
        }
        return Reply(high: ages[.high], bulk: ages[.bulk])
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        return Reply(high: try reader.duration(), bulk: try reader.duration())
    }
}

/// Counts the app's open pushes, and the pushes that got an outcome since the app was set up.
package struct ReadPushCounts: Request {
    package struct Load: Equatable, Sendable {
        package var open: Int
        package var settled: Int
    }

    private static let fields = ["open", "settled"]

    package init() {}

    package var words: [any CommandArgument] { ["HMGET", AppKey(\.load), ArgumentList(Self.fields)] }

    package static func read(_ value: RESPValue) throws(StoreError) -> Load {
        let fields = try ReplyFields(value, fields, Self.self)
        return Load(open: max(0, fields.number("open")), settled: fields.number("settled"))
    }
}

/// Lists ids of delayed or paused batches, a page at a time.
package struct ListDelayedOrPaused: Request {
    package enum Kind: Sendable {
        /// Delayed batches, in the order of their due times.
        case delayed
        /// Paused batches, in the order in which they were paused.
        case paused
    }

    package typealias Reply = [String]

    package let words: [any CommandArgument]

    package init(_ kind: Kind, start: Int, count: Int = 500) {
        let list: [any CommandArgument] =
            switch kind {
            case .delayed: ["ZRANGE", AppKey(\.delayed)]
            case .paused: ["LRANGE", AppKey(\.paused)]
            }
        words = [ArgumentList(list), start, start + count - 1]
    }
}
