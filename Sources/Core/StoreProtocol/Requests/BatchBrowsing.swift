package import PushModel
package import RedisProtocol

/// What the hash of states says about a batch: "worker|deliveries|granted|suspect|open|map".
package struct BatchState: Equatable, Sendable {
    /// The worker that has checked the batch out; empty when none has.
    package let worker: String
    /// How many pushes, from the first position on, the worker may have sent.
    package let granted: Int
    /// Pushes without an outcome.
    package let open: Int
    /// One letter per position: `.` open, `p` paused, `x` reported.
    package let map: [UInt8]

    /// Nil when the text is not a state.
    init?(_ text: [UInt8]) {
        let parts = text.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
        guard parts.count == 6, let open = Int(foreign: String(decoding: parts[4], as: UTF8.self)) else {
            return nil
        }
        worker = String(decoding: parts[0], as: UTF8.self)
        granted = Int(foreign: String(decoding: parts[2], as: UTF8.self)) ?? 0
        (self.open, map) = (open, Array(parts[5]))
    }

    /// Pushes that the worker may have sent and has not reported.
    package var maybeSent: Int { map.prefix(max(0, granted)).count { $0 == UInt8(ascii: ".") } }

    package var paused: Int { map.count { $0 == UInt8(ascii: "p") } }
}

/// Reads the states of some batches, in their order; nil for a batch that is gone.
package struct ReadBatchStates: Request {
    package var ids: [String]

    package init(_ ids: [String]) { self.ids = ids }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.states)
        for id in ids { command.append(id) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [BatchState?] {
        guard let values = value.array else { throw .unexpectedReply("states") }
        return values.map { $0.bytes.flatMap { BatchState($0) } }
    }
}

/// Reads some batches, in their order; nil for a batch that is gone or cannot be read.
package struct ReadBatches: Request {
    package var ids: [String]

    package init(_ ids: [String]) { self.ids = ids }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.batches)
        for id in ids { command.append(id) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [Batch?] {
        guard let values = value.array else { throw .unexpectedReply("batches") }
        return values.map { $0.bytes.flatMap { try? Batch(decoding: $0) } }
    }
}

/// Reads a page of delayed batches: in the order of their times, or from a cursor, so that batches which become due
/// meanwhile hide no others.
package struct ReadDelayed: Request {
    package enum Page: Sendable {
        /// Batches from this rank on; the first to become due has rank 0.
        case ranks(from: Int, count: Int)
        case scan(cursor: String, count: Int)
    }

    package struct Reply: Equatable, Sendable {
        package struct Entry: Equatable, Sendable {
            package let id: String
            /// Unix milliseconds.
            package let due: Int64
        }

        package let entries: [Entry]
        /// Where the next scan starts; nil at the end, and for ranks.
        package let next: String?
    }

    package var page: Page

    package init(_ page: Page) { self.page = page }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        switch page {
        case .ranks(let first, let count):
            command.append("ZRANGE")
            command.append(keys.delayed)
            command.append(first)
            command.append(first + count - 1)
            command.append("WITHSCORES")
        case .scan(let cursor, let count):
            command.append("ZSCAN")
            command.append(keys.delayed)
            command.append(cursor)
            command.append("COUNT")
            command.append(count)
        }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        guard let values = value.array else { throw .unexpectedReply("delayed batches") }
        // A scan is a cursor and a list; ranks are the list alone.
        let isScan = values.count == 2 && values[1].array != nil
        let words = isScan ? values[1].array ?? [] : values
        let entries = stride(from: 0, to: words.count - words.count % 2, by: 2).compactMap { index in
            words[index].text.map { id in
                Reply.Entry(id: id, due: Self.moment(words[index + 1].text))
            }
        }
        let cursor = isScan ? values[0].text : nil
        return Reply(entries: entries, next: cursor == "0" ? nil : cursor)
    }

    private static func moment(_ score: String?) -> Int64 {
        score.flatMap(Double.init).map { Int64(foreign: Int64(clamping: $0)) } ?? 0
    }
}

/// Reads a page of a list of batches or jobs, counted from its end: what is taken from its start meanwhile hides no
/// others.
package struct ReadListEnd: Request {
    package enum List: Sendable {
        /// Jobs that producers pushed.
        case inbox
        /// Jobs that the intake has taken and not yet split.
        case taken
        /// Batches of a shard that are ready for a worker, by lane.
        case ready(shard: Int, Lane)
        /// Batches of a shard that a worker has checked out.
        case inFlight(shard: Int)
        /// Batches that are paused or quarantined.
        case paused
    }

    package var list: List
    /// Elements behind the page.
    package var skipped: Int
    package var count: Int

    package init(_ list: List, skipping skipped: Int = 0, count: Int) {
        (self.list, self.skipped, self.count) = (list, skipped, count)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("LRANGE")
        switch list {
        case .inbox: command.append(keys.inbox)
        case .taken: command.append(keys.taken)
        case .ready(let shard, let lane): command.append(keys.batchLists(shard)[lane == .high ? 0 : 1])
        case .inFlight(let shard): command.append(keys.batchLists(shard)[2])
        case .paused: command.append(keys.paused)
        }
        command.append(-skipped - count)
        command.append(-skipped - 1)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [[UInt8]] {
        guard let values = value.array else { throw .unexpectedReply("a list") }
        return values.compactMap(\.bytes)
    }
}

/// Reads a page of the reports that are not settled yet; those that cannot be read are left out.
package struct ListReports: Request {
    package struct Reply: Sendable {
        package let entries: [(id: EntryID, entry: ResultsEntry)]
        /// Where the next page starts; nil at the end.
        package let next: EntryID?
    }

    private static let page = 64

    package var after: EntryID?

    package init(after: EntryID?) { self.after = after }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("XRANGE")
        command.append(keys.results)
        command.append(after.map { [UInt8(ascii: "(")] + $0.bytes } ?? [UInt8(ascii: "-")])
        command.append("+")
        command.append("COUNT")
        command.append(Self.page)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        let all = try ReplyReader.entries(value, "results")
        let entries = all.compactMap { id, words -> (EntryID, ResultsEntry)? in
            guard let words = words.array, words.count >= 2, let bytes = words[1].bytes,
                let entry = try? ResultsEntry(decoding: bytes)
            else { return nil }
            return (id, entry)
        }
        return Reply(entries: entries, next: all.count == Self.page ? all.last?.id : nil)
    }
}

extension Keys {
    /// A hash: batches by id.
    fileprivate var batches: [UInt8] { prefix + Array("batches".utf8) }
}
