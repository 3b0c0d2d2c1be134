package import PushModel
package import RedisProtocol

/// A place in a suppression list: the stream's id of a record.
package struct SuppressionPlace: Hashable, Sendable {
    package let text: String

    /// Before the first record.
    package static let start = SuppressionPlace(text: "0-0")

    package init(text: String) { self.text = text }

    /// Unix milliseconds of Redis's clock when the record was written.
    package var milliseconds: Int64 { Int64(foreign: text.prefix { $0 != "-" }) ?? 0 }

    /// So long before this one.
    package func back(milliseconds: Int64) -> SuppressionPlace {
        SuppressionPlace(text: "\(max(0, self.milliseconds - milliseconds))-0")
    }
}

/// Where the suppression lists of some shards end, and whether they are what they were.
package struct ReadSuppressionEnds: Request {
    package struct Reply: Sendable {
        /// How often the guard has taken back what lists said.
        package let takeBacks: Int
        /// Bad tokens are not suppressed until they are confirmed.
        package let isHolding: Bool
        /// In the order of the shards; nil: there never was a record.
        package let ends: [SuppressionPlace?]
    }

    package var shards: [Int]

    package init(shards: [Int]) { self.shards = shards }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.suppression)
        command.append("taken_back")
        command.append("holding")
        for shard in shards { command.append(LeaseField.name(ofShard: shard)) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        guard let parts = value.array, parts.count >= 2, let first = parts.first,
            let takeBacks = first.text.map({ Int(foreign: $0) }) ?? 0
        else { throw .unexpectedReply("suppression") }
        return Reply(
            takeBacks: takeBacks, isHolding: parts[1].text != nil,
            ends: parts.dropFirst(2).map { $0.text.map { SuppressionPlace(text: $0) } })
    }
}

/// A part of a shard's suppression list.
package struct ReadSuppressed: Request {
    package struct Line: Sendable {
        package let place: SuppressionPlace
        /// nil: this farm cannot read it.
        package let record: SuppressionRecord?
    }

    package var shard: Int
    package var after: SuppressionPlace
    package var count: Int

    package init(shard: Int, after: SuppressionPlace = .start, count: Int = 1000) {
        (self.shard, self.after, self.count) = (shard, after, count)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("XRANGE")
        command.append(keys.suppressed(shard))
        command.append("(" + after.text)
        command.append("+")
        command.append("COUNT")
        command.append(count)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [Line] {
        guard let entries = value.array else { throw .unexpectedReply("suppressed") }
        var lines: [Line] = []
        lines.reserveCapacity(entries.count)
        for entry in entries {
            guard let parts = entry.array, parts.count == 2, let id = parts[0].text else {
                throw .unexpectedReply("suppressed, an entry")
            }
            let bytes = parts[1].array.flatMap { $0.count == 2 ? $0[1].bytes : nil }
            lines.append(
                Line(
                    place: SuppressionPlace(text: id),
                    record: bytes.flatMap { SuppressionRecord(decoding: $0) }))
        }
        return lines
    }
}

/// What the numbers of scopes in records stand for.
package struct ReadScopes: Request {
    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HGETALL")
        command.append(keys.scopes)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [UInt32: SuppressionScope] {
        guard let parts = value.array else { throw .unexpectedReply("scopes") }
        let scopes = stride(from: 1, to: parts.count, by: 2).compactMap {
            parts[$0].text.flatMap { SuppressionScope(text: $0) }
        }
        return Dictionary(scopes.map { ($0.number, $0) }) { first, _ in first }
    }
}

/// Drops records of a shard that are too old, a bounded number at a time.
package struct DropOldSuppressed: Request {
    package var shard: Int
    /// Unix milliseconds.
    package var before: Int64

    package init(shard: Int, before: Int64) { (self.shard, self.before) = (shard, before) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("XTRIM")
        command.append(keys.suppressed(shard))
        for word in ["MINID", "~"] { command.append(word) }
        command.append(before)
    }

    /// How many were dropped.
    package static func read(_ value: RESPValue) throws(StoreError) -> Int {
        guard let count = value.integer else { throw .unexpectedReply("trim") }
        return Int(count)
    }
}
