import EventLoop
import RedisProtocol
import StoreProtocol

/// The entries of some streams in the order in which they came, as far as they are there and as they come.
@Loop final class EventTail {
    struct Source: Sendable {
        /// The app; nil: the farm.
        let app: String?
        let key: String

        static func events(_ app: String) -> Source { Source(app: app, key: "{pushfarm:\(app)}:events") }

        /// Commands of operators, and the hosts' answers.
        static let operations = Source(app: nil, key: FarmKeys.operations)
    }

    struct Line: Sendable {
        let app: String?
        let event: EventEntry
    }

    private let client: FarmClient
    private let sources: [Source]
    /// Behind the last entry of each stream that was read, by its key.
    private var places: [String: EntryID] = [:]
    /// Redis cannot be asked; and that it can again.
    var onTrouble: @Loop (RedisError?) -> Void = { _ in }

    private static let portion = 1000
    private static let wait = Duration.seconds(5)

    init(_ client: FarmClient, _ sources: [Source]) { (self.client, self.sources) = (client, sources) }

    /// Goes to the end of what is there now.
    func skip() async throws(CommandFailure) {
        for source in sources {
            let last = try await read("XREVRANGE", source, "+", "-", count: 1).first
            places[source.key] = last?.id ?? .first
        }
    }

    /// The last entries that `isWanted` takes, so many of all streams together, the oldest first.
    func latest(_ count: Int, where isWanted: (EventEntry) -> Bool) async throws(CommandFailure) -> [Line] {
        var found: [Line] = []
        for source in sources {
            var end = "+"
            var ours: [Line] = []
            while ours.count < count {
                let page = try await read("XREVRANGE", source, end, "-")
                if end == "+" { places[source.key] = page.first?.id ?? .first }
                ours += page.lazy.filter(isWanted).map { Line(app: source.app, event: $0) }
                guard page.count == Self.portion, let last = page.last else { break }
                end = "(\(last.id)"
            }
            found += ours.prefix(count)
        }
        return Array(found.sorted { $0.event.id < $1.event.id }.suffix(count))
    }

    /// All entries from a moment on, in their order.
    /// - Parameter since: Unix milliseconds.
    func read(since: Int64, _ body: (Line) throws(CommandFailure) -> Void) async throws(CommandFailure) {
        var pages: [ArraySlice<EventEntry>] = []
        for source in sources {
            pages.append(try await read("XRANGE", source, "\(since)", "+")[...])
            places[source.key] = EntryID(Array("\(max(since - 1, 0))-\(UInt64.max)".utf8))
        }
        while true {
            let fronts = pages.indices.compactMap { index in
                pages[index].first.map { (index: index, event: $0) }
            }
            guard let next = fronts.min(by: { ($0.event.id, $0.index) < ($1.event.id, $1.index) }) else {
                return
            }
            let source = sources[next.index]
            pages[next.index].removeFirst()
            places[source.key] = next.event.id
            try body(Line(app: source.app, event: next.event))
            if pages[next.index].isEmpty {
                pages[next.index] = try await read("XRANGE", source, "(\(next.event.id)", "+")[...]
            }
        }
    }

    private func read(
        _ word: String, _ source: Source, _ start: String, _ end: String, count: Int = EventTail.portion
    ) async throws(CommandFailure) -> [EventEntry] {
        let command = RESPCommand(word, source.key, start, end, "COUNT", "\(count)")
        do throws(RedisError) { return EventTail.entries(try await client.redis.call(command)) } catch {
            throw client.failure(.redis(error))
        }
    }

    /// What is no entry is passed over.
    private static func entries(_ value: RESPValue) -> [EventEntry] {
        (try? EventEntry.read(value)) ?? []
    }

    /// What comes from now on, until the connection is closed. Waits when Redis is away.
    func follow(_ body: @Loop (Line) throws(CommandFailure) -> Void) async throws(CommandFailure) {
        var isAway = false
        while true {
            do throws(RedisError) {
                let lines = try await next()
                if isAway { onTrouble(nil) }
                isAway = false
                for line in lines { try forward(line, body) }
            } catch {
                if let failure = pending { throw failure }
                if error == .closed { return }
                guard error.isTemporary else { throw .failed("\(client.place): \(error)") }
                if !isAway { onTrouble(error) }
                isAway = true
                _ = try? await Loop.sleep(for: .milliseconds(200))
            }
        }
    }

    /// What ended the reading from within.
    private var pending: CommandFailure?

    private func forward(_ line: Line, _ body: (Line) throws(CommandFailure) -> Void) throws(RedisError) {
        do throws(CommandFailure) { try body(line) } catch {
            pending = error
            throw .closed
        }
    }

    private func next() async throws(RedisError) -> [Line] {
        var command = RESPCommand(
            "XREAD", "BLOCK", "\(Self.wait.components.seconds * 1000)", "COUNT", "500", "STREAMS")
        for source in sources { command.append(source.key) }
        for source in sources { command.append((places[source.key] ?? .first).bytes) }
        let answer = try await client.redis.call(command, blocking: Self.wait)
        var lines: [Line] = []
        for stream in answer.array ?? [] {
            guard let parts = stream.array, parts.count == 2,
                let source = sources.first(where: { $0.key == parts[0].text })
            else { continue }
            let events = Self.entries(parts[1])
            if let last = events.last { places[source.key] = last.id }
            lines += events.map { Line(app: source.app, event: $0) }
        }
        return lines.sorted { $0.event.id < $1.event.id }
    }
}
