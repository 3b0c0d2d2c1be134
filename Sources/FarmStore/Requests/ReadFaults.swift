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
