package import PushModel
package import RedisProtocol

/// The state of a batch. Redis stores a state in the hash of states as "worker|deliveries|granted|suspicion|open|map".
package struct BatchState: Equatable, Sendable {
    /// The worker that checked the batch out; empty if no worker has the batch.
    package let worker: String
    /// The number of pushes, counted from the first position, that the worker may have sent.
    package let granted: Int
    /// The number of open positions, without the paused positions.
    package let open: Int
    /// One letter per position: `.` open, `p` paused, `x` reported.
    package let map: [UInt8]

    /// Reads the text of a state; nil if it is not valid.
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

/// One page of a list that is too long for one call.
package struct ScanPage<Item: Sendable>: Sendable {
    package let items: [Item]
    /// The cursor for the next call; nil at the end.
    package let next: String?

}

/// Reads the ids of all batches in the hash of states, a page at a time.
package struct ScanBatches: Request {
    package let words: [any CommandArgument]

    package init(cursor: String = "0") { words = ScanStates(cursor: cursor).words }

    package static func read(_ value: RESPValue) throws(StoreError) -> ScanPage<String> {
        let page = try ScanStates.read(value)
        return ScanPage(items: page.items.map(\.id.description), next: page.next)
    }
}

/// Reads states of batches, a page at a time. The item of an unreadable state is nil.
package struct ScanStates: Request {
    package let words: [any CommandArgument]

    package init(cursor: String = "0") {
        words = ["HSCAN", AppKey(\.states), cursor, "COUNT", 500]
    }

    package static func read(
        _ value: RESPValue
    ) throws(StoreError) -> ScanPage<(id: BatchID, state: BatchState?)> {
        var reader = try ReplyReader(value, Self.self)
        let cursor = try reader.text()
        var words = try reader.part()
        var states: [(id: BatchID, state: BatchState?)] = []
        while !words.isAtEnd {
            states.append((BatchID(try words.bytes()), BatchState(try words.bytes())))
        }
        return ScanPage(items: states, next: cursor == "0" ? nil : cursor)
    }
}

/// Reads the states of the given batches, in the order of the given ids; nil if a batch no longer exists.
package struct ReadBatchStates: Request {
    package let words: [any CommandArgument]

    package init(_ ids: [String]) {
        words = ["HMGET", AppKey(\.states), ArgumentList(ids)]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [BatchState?] {
        guard let values = value.array else { throw .unexpectedReply("\(Self.self)") }
        return values.map { $0.bytes.flatMap { BatchState($0) } }
    }
}

/// Reads the given batches, in the order of the given ids; nil if a batch no longer exists or cannot be read.
package struct ReadBatches: Request {
    package let words: [any CommandArgument]

    package init(_ ids: [String]) {
        words = ["HMGET", AppKey(\.batches), ArgumentList(ids)]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [Batch?] {
        guard let values = value.array else { throw .unexpectedReply("\(Self.self)") }
        return values.map { $0.bytes.flatMap { try? Batch(decoding: $0) } }
    }
}

/// Reads a page of delayed batches, either ordered by due time or as a scan with a cursor. A scan with a cursor returns every
/// batch that stays delayed, even if other batches become due between two calls.
package struct ReadDelayed: Request {
    package enum Page: Sendable {
        /// Batches from this rank on. The batch that is due first has rank 0.
        case ranks(from: Int, count: Int)
        case scan(cursor: String, count: Int)
    }

    package struct Reply: Equatable, Sendable {
        package struct Entry: Equatable, Sendable {
            package let id: String
            /// The due time in Unix milliseconds.
            package let due: Int64
        }

        package let entries: [Entry]
        /// The cursor for the next scan; nil at the end of the scan, and nil if ranks were requested.
        package let next: String?
    }

    package let words: [any CommandArgument]

    package init(_ page: Page) {
        switch page {
        case .ranks(let first, let count):
            words = ["ZRANGE", AppKey(\.delayed), first, first + count - 1, "WITHSCORES"]
        case .scan(let cursor, let count):
            words = ["ZSCAN", AppKey(\.delayed), cursor, "COUNT", count]
        }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        guard let values = value.array else { throw .unexpectedReply("\(Self.self)") }
        // The reply to a scan is a cursor and a list. The reply for ranks is only the list.
        let isScan = values.count == 2 && values[1].array != nil
        let words = isScan ? values[1].array ?? [] : values
        let entries = RESPValue.array(words).pairs.compactMap { id, score in
            id.text.map { Reply.Entry(id: $0, due: Self.moment(score.text)) }
        }
        let cursor = isScan ? values[0].text : nil
        return Reply(entries: entries, next: cursor == "0" ? nil : cursor)
    }

    private static func moment(_ score: String?) -> Int64 {
        score.flatMap(Double.init).map { Int64(foreign: Int64(clamping: $0)) } ?? 0
    }
}

/// Reads a page of a list of batches or jobs, counted from the end of the list. If elements are removed from the start of the
/// list between two calls, the next page still misses no element.
package struct ReadListEnd: Request {
    package enum List: Sendable {
        /// Jobs that producers pushed.
        case inbox
        /// Jobs that the intake took and has not yet split.
        case taken
        /// Jobs whose users or devices the intake has not looked up yet.
        case lookups
        /// Batches of a shard and lane that are ready for a worker.
        case ready(shard: Int, Lane)
        /// Batches that workers of the shard checked out and have not finished.
        case inFlight(shard: Int)
        /// Batches that are paused or quarantined.
        case paused
    }

    package let words: [any CommandArgument]

    /// - Parameter skipped: how many elements at the end of the list the page skips.
    package init(_ list: List, skipping skipped: Int = 0, count: Int) {
        let key =
            switch list {
            case .inbox: AppKey(\.inbox)
            case .taken: AppKey(\.taken)
            case .lookups: AppKey(\.lookups)
            case .ready(let shard, let lane): AppKey { $0.batchLists(shard)[lane == .high ? 0 : 1] }
            case .inFlight(let shard): AppKey { $0.batchLists(shard)[2] }
            case .paused: AppKey(\.paused)
            }
        words = ["LRANGE", key, -skipped - count, -skipped - 1]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [[UInt8]] {
        guard let values = value.array else { throw .unexpectedReply("\(Self.self)") }
        return values.compactMap(\.bytes)
    }
}
