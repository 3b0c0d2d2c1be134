package import RedisProtocol

/// Looks for what keeps an app's work from being done: keys of the wrong type, and what cannot be read. About 0.2 ms with 64
/// shards.
package struct ReadFaults: Request {
    /// A key that does not hold what it must.
    package struct WrongType: Equatable, Sendable {
        package let key: String
        /// In Redis's words.
        package let found: String
        package let expected: String

        package init(key: String, found: String, expected: String) {
            (self.key, self.found, self.expected) = (key, found, expected)
        }

        package var text: String { "\(key) is a \(found) and must be a \(expected)" }
    }

    package struct Reply: Equatable, Sendable {
        package var wrongTypes: [WrongType] = []
        /// Entries of the results stream that cannot be settled; the id of one, and why.
        package var unsettled = 0
        package var entry = ""
        package var why = ""
        /// Originals that are kept because they cannot be read; the name of one.
        package var unreadable = 0
        package var name = ""

        package init() {}

        /// In words; empty when all can be read.
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

    package static var script: Script? { .faults }

    /// Of the farm.
    package var shards: Int

    package init(shards: Int) { self.shards = shards }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys, inbox: ())
        command.append(shards)
    }

    /// As in the script.
    private static let kinds: [(kind: String, names: [String])] = [
        ("list", ["taken", "paused", "unproven", "unconfirmed"]),
        (
            "hash",
            [
                "owners", "intake", "paused_jobs", "paused_tokens", "cancels", "paused_shards", "batches",
                "states",
                "dead_letter_counts",
                "suppression", "scopes", "guard", "feedback", "load", "admission", "refusals", "unsettled",
                "unreadable",
            ]
        ),
        ("zset", ["delayed", "jobs"]), ("stream", ["results", "events", "refused", "dead_letters", "audit"]),
    ]

    /// A user who may not look at a key is told nothing of it.
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
        let unsettled = keys.prefix + Array("unsettled".utf8)
        return checks(keys).map { RESPCommand("TYPE", key: $0.key) } + [
            RESPCommand("HLEN", key: unsettled), RESPCommand("HRANDFIELD", key: unsettled, "1", "WITHVALUES"),
            RESPCommand("HLEN", key: keys.unreadable), RESPCommand("HRANDFIELD", key: keys.unreadable),
        ]
    }

    package func readPlain(_ answers: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        let checks = checks(keys)
        guard answers.count == checks.count + 4 else { throw .unexpectedReply("faults, short") }
        var reply = Reply()
        for (check, answer) in zip(checks, answers) {
            guard let found = answer.text, found != check.kind, found != "none" else { continue }
            reply.wrongTypes.append(
                WrongType(
                    key: String(decoding: check.key, as: UTF8.self), found: found, expected: check.kind))
        }
        reply.wrongTypes.sort { $0.key < $1.key }
        let rest = answers.suffix(4).map { $0 }
        if let count = rest[0].integer, count > 0 {
            let sample = rest[1].array?.compactMap(\.text) ?? []
            (reply.unsettled, reply.entry) = (Int(clamping: count), sample.first ?? "")
            // A moment stands before the reason.
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
        var reader = try ReplyReader(value, "faults")
        var keys = try ReplyReader(reader.next(), "faults, keys")
        var reply = Reply()
        while !keys.isAtEnd {
            reply.wrongTypes.append(
                WrongType(key: try keys.text(), found: try keys.text(), expected: try keys.text()))
        }
        reply.wrongTypes.sort { $0.key < $1.key }
        (reply.unsettled, reply.entry, reply.why) = (
            try reader.integer(), try reader.text(), try reader.text()
        )
        (reply.unreadable, reply.name) = (try reader.integer(), try reader.text())
        return reply
    }
}

/// Drops the originals of what could not be read.
package struct DropUnreadable: Request {
    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("DEL")
        command.append(keys.unreadable)
    }

    package static func read(_ value: RESPValue) throws(StoreError) {}
}
