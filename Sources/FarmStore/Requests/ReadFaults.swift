package import RESP

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

    /// The keys of an app with the types that they must have, as the script has them.
    private static let types: [(type: String, names: [String])] = [
        ("list", ["taken", "parked", "unproven"]),
        (
            "hash",
            [
                "owners", "intake", "quarantine", "devices", "cancels", "withheld", "batches", "states",
                "letters",
                "suppression", "scopes", "guard", "feedback", "load", "gate", "refusals", "unsettled",
                "unreadable",
            ]
        ),
        ("zset", ["delayed", "jobs"]),
        ("stream", ["results", "events", "refused", "dead", "audit"]),
    ]

    private func typedKeys(_ keys: Keys) -> [(key: [UInt8], type: String)] {
        var typed = [(key: keys.inbox, type: "list")]
        for (type, names) in Self.types { typed += names.map { (keys.prefix + Array($0.utf8), type) } }
        for shard in 0..<max(0, shards) {
            typed += keys.batchLists(shard).map { ($0, "list") }
            typed.append((keys.suppressed(shard), "stream"))
        }
        return typed
    }

    package func plain(_ keys: Keys) -> [RESPCommand] {
        [
            RESPCommand("HLEN", key: keys.unsettled),
            RESPCommand("HRANDFIELD", key: keys.unsettled, "1", "WITHVALUES"),
            RESPCommand("HLEN", key: keys.unreadable),
        ] + typedKeys(keys).map { RESPCommand("TYPE", key: $0.key) }
    }

    package func readPlain(_ answers: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        let typed = typedKeys(keys)
        guard answers.count == typed.count + 3 else { throw .unexpectedReply("faults, short") }
        var reply = Reply()
        for ((key, type), answer) in zip(typed, answers.dropFirst(3)) {
            guard let found = answer.text, found != "none", found != type else { continue }
            reply.wrongTypes.append(
                WrongType(key: String(decoding: key, as: UTF8.self), found: found, expected: type))
        }
        reply.wrongTypes.sort { $0.key < $1.key }
        var counts = try ReplyReader(.array([answers[0], answers[2]]), "faults, counts")
        (reply.unsettled, reply.unreadable) = (try counts.integer(), try counts.integer())
        let sample = answers[1].array ?? []
        (reply.entry, reply.why) = (
            sample.first?.text ?? "", Self.reason(sample.dropFirst().first?.text ?? "")
        )
        return reply
    }

    /// A mark is "ms reason".
    private static func reason(_ mark: String) -> String {
        let parts = mark.split(separator: " ", maxSplits: 1)
        return parts.count == 2 ? String(parts[1]) : mark
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
        command.append("UNLINK")
        command.append(keys.unreadable)
    }

    package static func read(_ value: RESPValue) throws(StoreError) {}
}
