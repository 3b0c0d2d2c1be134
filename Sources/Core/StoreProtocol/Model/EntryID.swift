package import RedisProtocol

/// The id of an entry of a stream, "ms-number".
package struct EntryID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// The id that precedes every other id.
    package static let first = EntryID(Array("0-0".utf8))

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var description: String { String(decoding: bytes, as: UTF8.self) }

    /// When the entry was added, in Unix milliseconds of Redis's clock.
    package var milliseconds: Int64 { Int64(foreign: parts.moment) }

    private var parts: (moment: UInt64, number: UInt64) {
        let parts = description.split(separator: "-").map { UInt64(unbounded: $0) ?? 0 }
        return (parts.first ?? 0, parts.count > 1 ? parts[1] : 0)
    }
}

extension EntryID: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(bytes) }

    /// The lowest id of an entry that was added `milliseconds` before this entry.
    package func back(milliseconds: Int64) -> EntryID {
        EntryID(Array("\(max(0, self.milliseconds - milliseconds))-0".utf8))
    }
}

extension EntryID: Comparable {
    package static func < (one: EntryID, other: EntryID) -> Bool { one.parts < other.parts }
}
