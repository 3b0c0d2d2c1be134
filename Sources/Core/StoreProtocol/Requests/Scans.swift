package import RedisProtocol

/// Part of what is too much for one call.
package struct ScanPage: Equatable, Sendable {
    package let items: [String]
    /// Where the next call begins; nil at the end.
    package let next: String?

    init(_ items: [String], cursor: String) {
        self.items = items
        next = cursor == "0" ? nil : cursor
    }
}

/// Finds the job records that have to be held against the queues: of jobs that are not finished, and those that are wrong by
/// themselves.
package struct ScanJobRecords: Request {
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

    package static func read(_ value: RESPValue) throws(StoreError) -> ScanPage {
        var reader = try ReplyReader(value, "audit, job records")
        let cursor = try reader.text()
        return ScanPage(try reader.remainingTexts(), cursor: cursor)
    }
}

/// Finds the batches that have a state.
package struct ScanBatches: Request {
    package var cursor: String

    package init(cursor: String = "0") { self.cursor = cursor }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.appendScan(keys, from: cursor)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> ScanPage {
        var reader = try ReplyReader(value, "scan")
        let cursor = try reader.text()
        let words = try reader.texts()
        return ScanPage(stride(from: 0, to: words.count, by: 2).map { words[$0] }, cursor: cursor)
    }
}

/// What the states of batches say about them, a page at a time.
package struct ScanStates: Request {
    package struct State: Equatable, Sendable {
        package let id: BatchID
        /// A worker has it.
        package let isHeld: Bool
        package let open: Int
        /// Positions that wait with a job or a device.
        package let parked: Int
    }

    package struct Page: Equatable, Sendable {
        package let states: [State]
        /// Where the next call begins; nil at the end.
        package let next: String?
    }

    package var cursor: String

    package init(cursor: String = "0") { self.cursor = cursor }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.appendScan(keys, from: cursor)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Page {
        var reader = try ReplyReader(value, "states")
        let cursor = try reader.text()
        var words = try ReplyReader(reader.next(), "states")
        var states: [State] = []
        while !words.isAtEnd {
            let (id, text) = (try words.bytes(), try words.bytes())
            // worker|deliveries|granted|caution|open|map
            let parts = text.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
            guard parts.count == 6, let open = Int(foreign: String(decoding: parts[4], as: UTF8.self)) else {
                continue
            }
            states.append(
                State(
                    id: BatchID(id), isHeld: !parts[0].isEmpty, open: open,
                    parked: parts[5].count { $0 == UInt8(ascii: "p") }))
        }
        return Page(states: states, next: cursor == "0" ? nil : cursor)
    }
}

/// Ids of batches that wait outside the queues, a page at a time.
package struct ListWaiting: Request {
    package enum Place: Sendable {
        /// Those that are due first before the others.
        case delayed
        /// In the order in which they were parked.
        case parked
    }

    package var place: Place
    package var start: Int
    package var count: Int

    package init(_ place: Place, start: Int, count: Int = 500) {
        (self.place, self.start, self.count) = (place, start, count)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(place == .delayed ? "ZRANGE" : "LRANGE")
        command.append(place == .delayed ? keys.delayed : keys.paused)
        command.append(start)
        command.append(start + count - 1)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [String] {
        var reader = try ReplyReader(value, "waiting")
        return try reader.remainingTexts()
    }
}

/// How many pushes of an app are open, and how many have come to their end since it was set up.
package struct ReadLoad: Request {
    package struct Load: Equatable, Sendable {
        package var open: Int
        package var settled: Int
    }

    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.load)
        command.append("open")
        command.append("settled")
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Load {
        guard let parts = value.array, parts.count == 2 else { throw .unexpectedReply("load") }
        func number(_ value: RESPValue) -> Int { value.text.flatMap { Int(foreign: $0) } ?? 0 }
        return Load(open: max(0, number(parts[0])), settled: number(parts[1]))
    }
}

extension RESPCommand {
    /// Asks for some of the batches that have a state.
    fileprivate mutating func appendScan(_ keys: Keys, from cursor: String) {
        append("HSCAN")
        append(keys.states)
        append(cursor)
        append("COUNT")
        append(500)
    }
}
