import EventLoop
import RedisClient
import StoreProtocol

/// The stored and new entries of several streams, in the order in which Redis added them.
@Loop final class EventTail {
    struct Line: Sendable {
        let app: String?
        let event: EventEntry
    }

    private let client: FarmClient
    private let streams: [FarmStream]
    /// The id of the last entry read from each stream.
    private var lastIDs: [FarmStream: EntryID] = [:]
    /// Called with the error when Redis has become unreachable, and with nil when Redis is reachable again.
    var onTrouble: @Loop (RedisError?) -> Void = { _ in }

    private static let portion = 1000
    private static let wait = Duration.seconds(5)

    init(_ client: FarmClient, _ streams: [FarmStream]) { (self.client, self.streams) = (client, streams) }

    /// Skips the stored entries.
    func skip() async throws(CommandFailure) {
        for stream in streams {
            lastIDs[stream] = try await client.entries(of: stream, .latest, count: 1).first?.id ?? .first
        }
    }

    /// Of the entries of all streams that `isWanted` accepts, the latest `count` entries, the oldest first.
    func latest(_ count: Int, where isWanted: (EventEntry) -> Bool) async throws(CommandFailure) -> [Line] {
        var found: [Line] = []
        for stream in streams {
            var ours: [Line] = []
            try await client.eachPage(of: stream, size: Self.portion) { page in
                if lastIDs[stream] == nil { lastIDs[stream] = page.first?.id ?? .first }
                ours += page.lazy.filter(isWanted).map { Line(app: stream.app, event: $0) }
                return ours.count < count
            }
            found += ours.prefix(count)
        }
        return Array(found.sorted { $0.event.id < $1.event.id }.suffix(count))
    }

    /// Reads all entries since a time, in order.
    /// - Parameter since: the time in Unix milliseconds.
    func read(since: Int64, _ body: (Line) throws(CommandFailure) -> Void) async throws(CommandFailure) {
        var pages: [ArraySlice<EventEntry>] = []
        for stream in streams {
            pages.append(try await client.entries(of: stream, .since(since), count: Self.portion)[...])
            lastIDs[stream] = EntryID(Array("\(max(since - 1, 0))-\(UInt64.max)".utf8))
        }
        while true {
            let fronts = pages.indices.compactMap { index in
                pages[index].first.map { (index: index, event: $0) }
            }
            guard let next = fronts.min(by: { ($0.event.id, $0.index) < ($1.event.id, $1.index) }) else {
                return
            }
            let stream = streams[next.index]
            pages[next.index].removeFirst()
            lastIDs[stream] = next.event.id
            try body(Line(app: stream.app, event: next.event))
            if pages[next.index].isEmpty {
                pages[next.index] = try await client.entries(
                    of: stream, .after(next.event.id), count: Self.portion)[...]
            }
        }
    }

    /// Reads new entries until the connection is closed. Waits while Redis is unreachable.
    func follow(_ body: @Loop (Line) throws(CommandFailure) -> Void) async throws(CommandFailure) {
        var isAway = false
        while true {
            let lines: [Line]
            do throws(RedisError) { lines = try await next() } catch {
                if error == .closed { return }
                guard error.isTemporary else { throw .failed("\(client.redisAddress): \(error)") }
                if !isAway { onTrouble(error) }
                isAway = true
                _ = try? await Loop.sleep(for: .milliseconds(200))
                continue
            }
            if isAway { onTrouble(nil) }
            isAway = false
            for line in lines { try body(line) }
        }
    }

    private func next() async throws(RedisError) -> [Line] {
        let farmRedis = FarmRedis(connection: client.redis)
        var lines: [Line] = []
        for (stream, entries) in try await farmRedis.newEntries(
            of: streams.map { ($0, lastIDs[$0] ?? .first) }, within: Self.wait)
        {
            if let last = entries.last { lastIDs[stream] = last.id }
            lines += entries.map { Line(app: stream.app, event: $0) }
        }
        return lines.sorted { $0.event.id < $1.event.id }
    }
}

extension FarmClient {
    /// Reads one page of a stream.
    func entries(
        of stream: FarmStream, _ start: StreamRange, count: Int
    ) async throws(CommandFailure) -> [EventEntry] {
        try await ask { farmRedis throws(RedisError) in
            try await farmRedis.entries(of: stream, start, count: count)
        }
    }

    /// Passes the entries of a stream to `body`, one page at a time and from the newest entry to the oldest, until
    /// `body` returns false.
    func eachPage(
        of stream: FarmStream, size: Int, _ body: ([EventEntry]) -> Bool
    ) async throws(CommandFailure) {
        var start = StreamRange.latest
        while true {
            let page = try await entries(of: stream, start, count: size)
            guard body(page), page.count == size, let last = page.last else { return }
            start = .before(last.id)
        }
    }

    /// The latest matching events of an app, the oldest first.
    /// - Parameter count: the number of latest events to search.
    func events(
        of app: String, among count: Int, where matches: (EventEntry) -> Bool
    ) async throws(CommandFailure) -> [EventEntry] {
        guard count > 0 else { return [] }
        var (found, remaining) = ([EventEntry](), count)
        try await eachPage(of: .events(app), size: min(1000, count)) { page in
            found += page.prefix(remaining).filter(matches)
            remaining -= page.count
            return remaining > 0
        }
        return found.reversed()
    }
}
