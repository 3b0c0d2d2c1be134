package import PushModel
package import RedisProtocol

/// Reads the lengths of an app's queues.
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
        package let paused: Int
        /// Pushes that are in a batch or in an entry.
        package let open: Int
        /// Batches of each shard.
        package let shards: [Shard]

        /// Of a farm of so many shards with empty queues.
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

    package var words: [any CommandWord] { [ScriptKeys.prefixAndInbox, shards] }

    package func plain(_ keys: Keys) -> [RESPCommand] {
        [
            RESPCommand("LLEN", key: keys.inbox), RESPCommand("LLEN", key: keys.taken),
            RESPCommand("ZCARD", key: keys.delayed), RESPCommand("XLEN", key: keys.results),
            RESPCommand("LLEN", key: keys.paused), RESPCommand("HGET", key: keys.load, "open"),
        ] + (0..<max(0, shards)).flatMap { keys.batchLists($0).map { RESPCommand("LLEN", key: $0) } }
    }

    package func readPlain(_ answers: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        var numbers = answers
        guard numbers.count > 5 else { throw .unexpectedReply("\(Self.self), short") }
        // A field that is not there counts as 0.
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

/// Reads the age of the oldest push of each lane that could be sent or is with a worker.
package struct ReadAges: Request {
    package struct Reply: Equatable, Sendable {
        /// Since its jobs were split, or it was due, or last tried; nil when nothing waits.
        package let high: Duration?
        package let bulk: Duration?

        package init(high: Duration?, bulk: Duration?) { (self.high, self.bulk) = (high, bulk) }

        package var oldest: Duration? { [high, bulk].compactMap(\.self).max() }

        package subscript(lane: Lane) -> Duration? { lane == .high ? high : bulk }
    }

    package static var script: Script? { .ages }

    /// Of the farm.
    package var shards: Int

    package init(shards: Int) { self.shards = shards }

    package var words: [any CommandWord] { [ScriptKeys.prefix, shards] }

    package func plain(_ keys: Keys) -> [RESPCommand] {
        [RESPCommand("TIME")]
            + (0..<max(0, shards)).flatMap {
                keys.batchLists($0).map { RESPCommand("LINDEX", key: $0, "0") }
            }
    }

    package func readPlain(_ answers: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        guard let now = answers.first?.time else { throw .unexpectedReply("\(Self.self), the time") }
        var ages: [Lane: Duration] = [:]
        for (index, answer) in answers.dropFirst().enumerated() {
            let id = BatchID(answer.bytes ?? [])
            guard let since = id.madeAt else { continue }
            // Of a shard there are the lists of high, of bulk, and of both together.
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

/// Counts the open pushes of an app, and those with an outcome since it was set up.
package struct ReadLoad: Request {
    package struct Load: Equatable, Sendable {
        package var open: Int
        package var settled: Int
    }

    private static let fields = ["open", "settled"]

    package init() {}

    package var words: [any CommandWord] { ["HMGET", AppKey(\.load), WordList(Self.fields)] }

    package static func read(_ value: RESPValue) throws(StoreError) -> Load {
        let fields = try ReplyFields(value, fields, Self.self)
        return Load(open: max(0, fields.number("open")), settled: fields.number("settled"))
    }
}

/// Lists ids of delayed or paused batches, a page at a time.
package struct ListWaiting: Request {
    package enum Place: Sendable {
        /// Those that are due first before the others.
        case delayed
        /// In the order in which they were paused.
        case paused
    }

    package typealias Reply = [String]

    package let words: [any CommandWord]

    package init(_ place: Place, start: Int, count: Int = 500) {
        let list: [any CommandWord] =
            switch place {
            case .delayed: ["ZRANGE", AppKey(\.delayed)]
            case .paused: ["LRANGE", AppKey(\.paused)]
            }
        words = [WordList(list), start, start + count - 1]
    }
}
