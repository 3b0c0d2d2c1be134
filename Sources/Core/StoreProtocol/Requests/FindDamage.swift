package import RedisProtocol

/// Finds keys of the wrong type, and data that cannot be read. With 64 shards, a call takes about 0.2 ms.
package struct FindDamage: Request {
    /// A key whose type is not the required type.
    package struct WrongType: Equatable, Sendable {
        package let key: String
        /// The key's type, as Redis names it.
        package let found: String
        package let expected: String

        package var text: String { "\(key) is a \(found) and must be a \(expected)" }
    }

    package struct Reply: Equatable, Sendable {
        package var wrongTypes: [WrongType] = []
        /// The number of results entries that cannot be settled.
        package var unsettled = 0
        /// The id of one results entry that cannot be settled.
        package var entry = ""
        /// Why `entry` cannot be settled.
        package var why = ""
        /// How many pieces of unreadable data Redis keeps in the hash `unreadable`.
        package var unreadable = 0
        /// The name of one of these pieces.
        package var name = ""

        package init() {}

        /// Describes the entries that cannot be settled, and the unreadable data; empty if there are neither.
        package var unreadableWords: [String] {
            var words: [String] = []
            if unsettled > 0 {
                words.append(
                    (unsettled == 1
                        ? "a results entry cannot be settled"
                        : "\(unsettled) results entries cannot be settled")
                        + " (\(entry): \(why))")
            }
            if unreadable > 0 {
                words.append(
                    (unreadable == 1
                        ? "1 item could not be read and is kept"
                        : "\(unreadable) items could not be read and are kept") + " (\(name))")
            }
            return words
        }
    }

    package static var script: Script? { .findDamage }

    /// The number of shards of the farm.
    package var shards: Int

    package init(shards: Int) { self.shards = shards }

    package var words: [any CommandArgument] { [ScriptKeys.prefixAndInbox, shards] }

    /// The names of the keys, by the type that they must have. The script `find_damage` contains the same names.
    private static let kinds: [(kind: String, names: [String])] = [
        (
            "list",
            [
                "taken", "paused", "unproven", "unconfirmed", "campaigns", "campaigns_taken", "done",
                "done_taken",
            ]
        ),
        (
            "hash",
            [
                "owners", "intake", "paused_jobs", "paused_tokens", "cancels", "paused_shards", "batches",
                "states", "dead_letter_counts", "suppression", "scopes", "guard", "feedback", "load",
                "admission", "refusals", "unsettled", "unreadable", "campaign_inputs", "done_inputs",
            ]
        ),
        ("zset", ["delayed", "jobs", "campaign_ids"]),
        ("stream", ["results", "events", "refused", "dead_letters", "audit"]),
    ]

    /// Error replies are accepted, because the Redis user may not be allowed to read every key; such keys are skipped.
    package static var readsErrors: Bool { true }

    private func checks(_ keys: Keys) -> [(key: [UInt8], kind: String)] {
        var checks: [(key: [UInt8], kind: String)] = [(keys.inbox, "list")]
        for (kind, names) in Self.kinds {
            for name in names { checks.append((keys.prefix + Array(name.utf8), kind)) }
        }
        for shard in 0..<max(0, shards) {
            for list in keys.batchLists(shard) { checks.append((list, "list")) }
            checks.append((keys.suppressed(shard), "stream"))
        }
        return checks
    }

    package func plain(_ keys: Keys) -> [RESPCommand] {
        return checks(keys).map { RESPCommand("TYPE", key: $0.key) } + [
            RESPCommand("HLEN", key: keys.unsettled),
            RESPCommand("HRANDFIELD", key: keys.unsettled, "1", "WITHVALUES"),
            RESPCommand("HLEN", key: keys.unreadable), RESPCommand("HRANDFIELD", key: keys.unreadable),
        ]
    }

    package func readPlain(_ replies: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        let checks = checks(keys)
        guard replies.count == checks.count + 4 else { throw .unexpectedReply("\(Self.self), short") }
        var reply = Reply()
        for (check, typeReply) in zip(checks, replies) {
            guard let found = typeReply.text, found != check.kind, found != "none" else { continue }
            reply.wrongTypes.append(
                WrongType(
                    key: String(decoding: check.key, as: UTF8.self), found: found, expected: check.kind))
        }
        reply.wrongTypes.sort { $0.key < $1.key }
        let rest = replies.suffix(4).map { $0 }
        if let count = rest[0].integer, count > 0 {
            let sample = rest[1].array?.compactMap(\.text) ?? []
            (reply.unsettled, reply.entry) = (Int(clamping: count), sample.first ?? "")
            // The stored text is a time, a space, and the reason.
            let words = (sample.last ?? "").split(separator: " ", maxSplits: 1)
            reply.why =
                words.count == 2 && Int64(foreign: words[0]) != nil ? String(words[1]) : sample.last ?? ""
        }
        if let count = rest[2].integer, count > 0 {
            (reply.unreadable, reply.name) = (Int(clamping: count), rest[3].text ?? "")
        }
        return reply
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        var keys = try reader.part()
        var reply = Reply()
        while !keys.isAtEnd {
            reply.wrongTypes.append(
                WrongType(key: try keys.text(), found: try keys.text(), expected: try keys.text()))
        }
        reply.wrongTypes.sort { $0.key < $1.key }
        reply.unsettled = try reader.integer()
        (reply.entry, reply.why) = (try reader.text(), try reader.text())
        (reply.unreadable, reply.name) = (try reader.integer(), try reader.text())
        return reply
    }
}

/// Deletes all data that Redis keeps in the hash `unreadable`.
package struct DropUnreadable: Request {
    package typealias Reply = Void

    package init() {}

    package var words: [any CommandArgument] { ["DEL", AppKey(\.unreadable)] }
}
