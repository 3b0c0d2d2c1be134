import EventLoop
import RedisProtocol
package import StoreProtocol

/// A Redis stream that commands of `pushfarm` can show.
package struct FarmStream: Hashable, Sendable {
    /// The app of the stream; nil for a stream of the farm.
    package let app: String?
    fileprivate let key: String

    /// The stream of an app's events.
    package static func events(_ app: String) -> FarmStream {
        FarmStream(app: app, key: String(decoding: Keys(app: app).events, as: UTF8.self))
    }

    /// The audit log: commands of operators and the hosts' replies.
    package static let operations = FarmStream(app: nil, key: FarmKeys.operations)
}

extension FarmRedis {
    /// Reads a page of a stream. Unreadable entries are skipped.
    package func entries(
        of stream: FarmStream, _ range: StreamRange, count: Int
    ) async throws(RedisError) -> [EventEntry] {
        let command = range.command(stream.key, count: count)
        return Self.entries(try await connection.call(command))
    }

    /// Waits for new entries in several streams.
    /// - Parameter positions: each stream with the id of the last entry that was read.
    /// - Returns: the new entries by stream; empty if no entry arrived in time.
    package func newEntries(
        of positions: [(stream: FarmStream, last: EntryID)], within limit: Duration
    ) async throws(RedisError) -> [(stream: FarmStream, entries: [EventEntry])] {
        var command = RESPCommand(
            "XREAD", "BLOCK", "\(limit.wholeMilliseconds)", "COUNT", "500", "STREAMS")
        for position in positions { command.append(position.stream.key) }
        for position in positions { command.append(position.last.bytes) }
        let reply = try await connection.call(command, blocking: limit)
        return (reply.array ?? []).compactMap { part in
            guard let words = part.array, words.count == 2,
                let stream = positions.first(where: { $0.stream.key == words[0].text })?.stream
            else { return nil }
            return (stream, Self.entries(words[1]))
        }
    }

    /// Reads the entries in a reply. A reply of an unknown form counts as a reply without entries.
    private static func entries(_ value: RESPValue) -> [EventEntry] {
        (try? EventEntry.read(value)) ?? []
    }
}
