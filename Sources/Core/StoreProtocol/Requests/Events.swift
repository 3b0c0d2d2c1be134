package import PushModel
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

    /// Reads the reply to XRANGE and the like.
    package static func read(_ value: RESPValue) throws(StoreError) -> [EventEntry] {
        try ReplyReader.entries(value, Self.self).map { id, words in
            EventEntry(
                id: id,
                fields: words.pairs.map { Field(name: $0.name.text ?? "", value: $0.value.text ?? "") })
        }
    }
}

/// Writes an event that belongs to no other step, at Redis's time.
package struct AddEvent: Request {
    package static var script: Script? { .addEvent }
    /// Whether it was written now, and not before.
    package typealias Reply = Bool

    package let words: [any CommandWord]

    /// - Parameter name: unique, so that a repeated request writes nothing twice.
    package init(_ event: FarmEvent, name: String = String(UInt64.random(in: 0 ... .max), radix: 16)) {
        words = [ScriptKeys.prefix, name, event.kind.rawValue, WordList(event.words)]
    }
}

/// A record of the audit: one settling.
package struct AuditEntry: Equatable, Sendable {
    package let id: EntryID
    /// Nil: the record cannot be read.
    package let groups: [AuditRecord.Group]?
}

/// Reads the audit, the oldest first.
package struct ReadAudit: Request {
    package let words: [any CommandWord]

    /// - Parameter after: nil: from the beginning.
    package init(after: EntryID?, count: Int = 16) {
        words = StreamRange.after(after).words(AppKey(\.audit), count: count)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [AuditEntry] {
        try ReplyReader.entries(value, Self.self).map { id, words throws(StoreError) in
            guard let bytes = words.array?.last?.bytes else {
                throw .unexpectedReply("\(Self.self), a record")
            }
            return AuditEntry(id: id, groups: try? AuditRecord.groups(bytes))
        }
    }
}
