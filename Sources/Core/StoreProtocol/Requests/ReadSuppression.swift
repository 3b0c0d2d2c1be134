package import PushModel
package import RedisProtocol

/// Reads the last record of each given shard's suppression list, and how often the guard withdrew records.
package struct ReadSuppressionEnds: Request {
    package struct Reply: Sendable {
        /// How often the guard withdrew records.
        package let takenBack: Int
        /// Whether new suppressions wait for confirmation.
        package let holdsUnconfirmed: Bool
        /// The id of each list's last record, in the order of the shards; nil if the list never had a record.
        package let ends: [EntryID?]
    }

    package let words: [any CommandArgument]

    package init(shards: [Int]) {
        words = [
            "HMGET", AppKey(\.suppression), "taken_back", "holding",
            ArgumentList(shards.map { LeaseID.shard($0) }),
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        guard let parts = value.array, parts.count >= 2, let first = parts.first,
            let takenBack = first.text.map({ Int(foreign: $0) }) ?? 0
        else { throw .unexpectedReply("\(Self.self)") }
        return Reply(
            takenBack: takenBack, holdsUnconfirmed: parts[1].text != nil,
            ends: parts.dropFirst(2).map { $0.bytes.map { EntryID($0) } })
    }
}

/// Reads part of a shard's suppression list.
package struct ReadSuppressed: Request {
    package struct Line: Sendable {
        package let id: EntryID
        /// The record; nil if this version cannot read it.
        package let record: SuppressionRecord?
    }

    package var shard: Int
    package var after: EntryID
    package var count: Int

    package init(shard: Int, after: EntryID = .first, count: Int = 1000) {
        (self.shard, self.after, self.count) = (shard, after, count)
    }

    package var words: [any CommandArgument] {
        StreamRange.after(after).words(AppKey { [shard] in $0.suppressed(shard) }, count: count)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [Line] {
        try ReplyReader.entries(value, Self.self).map { id, words in
            let bytes = words.array.flatMap { $0.count == 2 ? $0[1].bytes : nil }
            return Line(id: id, record: bytes.flatMap { SuppressionRecord(decoding: $0) })
        }
    }
}

/// Reads the table of scopes and their numbers. A suppression record contains a scope's number instead of the scope.
package struct ReadScopes: Request {
    package init() {}

    package var words: [any CommandArgument] { ["HGETALL", AppKey(\.scopes)] }

    package static func read(_ value: RESPValue) throws(StoreError) -> [UInt32: SuppressionScope] {
        guard value.array != nil else { throw .unexpectedReply("\(Self.self)") }
        let scopes = value.pairs.compactMap { $0.value.text.flatMap { SuppressionScope(text: $0) } }
        return Dictionary(scopes.map { ($0.number, $0) }) { first, _ in first }
    }
}

/// Deletes a shard's suppression records that are too old. Each call deletes a limited number of records.
package struct DropOldSuppressed: Request {
    /// The number of deleted records.
    package typealias Reply = Int

    package let words: [any CommandArgument]

    /// - Parameter before: records older than this time, in Unix milliseconds, are deleted.
    package init(shard: Int, before: Int64) {
        words = ["XTRIM", AppKey { $0.suppressed(shard) }, "MINID", "~", before]
    }
}
