package import PushModel
package import RedisProtocol

/// An entry of an events stream.
package struct EventEntry: Equatable, Sendable {
    package let id: EntryID
    /// The fields in the order in which they were written. The first field is the type.
    package let fields: [Field]

    package struct Field: Equatable, Sendable {
        package let name: String
        package let value: String
    }

    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Reads a reply that lists stream entries, such as the reply to XRANGE.
    package static func read(_ value: RESPValue) throws(StoreError) -> [EventEntry] {
        try ReplyReader.entries(value, Self.self).map { id, words in
            EventEntry(
                id: id,
                fields: words.pairs.map { Field(name: $0.name.text ?? "", value: $0.value.text ?? "") })
        }
    }
}

/// Writes an event of a kind that no other request writes. The event's time is Redis's time.
package struct AddEvent: Request {
    package static var script: Script? { .addEvent }
    /// Whether this call wrote the event; false if an earlier call did.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    /// - Parameter name: a unique name, so that a repeated request writes the event only once.
    package init(_ event: FarmEvent, name: String = String(UInt64.random(in: 0 ... .max), radix: 16)) {
        words = [ScriptKeys.prefix, name, event.kind.rawValue, ArgumentList(event.words)]
    }
}

/// A record of the audit of outcomes, written when a results entry is settled.
package struct AuditEntry: Equatable, Sendable {
    package let id: EntryID
    /// The outcomes; nil if the record cannot be read.
    package let groups: [AuditRecord.Group]?
}

/// Reads the audit of outcomes, oldest record first.
package struct ReadAudit: Request {
    package let words: [any CommandArgument]

    /// - Parameter after: the entry to start after; nil starts at the beginning.
    package init(after: EntryID?, count: Int = 16) {
        words = StreamRange.after(after).words(AppKey(\.audit), count: count)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [AuditEntry] {
        try ReplyReader.entries(value, Self.self).map { id, words throws(StoreError) in
            guard let bytes = words.array?.last?.bytes else {
                throw .unexpectedReply("\(Self.self), a record")
            }
            // An unreadable record must not hide the other records, so its `groups` are nil.
            return AuditEntry(id: id, groups: try? AuditRecord.groups(bytes))
        }
    }
}
