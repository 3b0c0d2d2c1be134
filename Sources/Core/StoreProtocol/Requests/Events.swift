package import RedisProtocol

/// An entry of an events stream.
package struct EventEntry: Equatable, Sendable {
    package let id: EntryID
    /// In the order in which they were written; the type is the first.
    package let fields: [Field]

    package struct Field: Equatable, Sendable {
        package let name: String
        package let value: String
    }

    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Of an answer to XRANGE and the like.
    package static func read(_ value: RESPValue) throws(StoreError) -> [EventEntry] {
        try ReplyReader.entries(value, "events").map { id, words in
            EventEntry(
                id: id,
                fields: words.pairs.map { Field(name: $0.name.text ?? "", value: $0.value.text ?? "") })
        }
    }
}
