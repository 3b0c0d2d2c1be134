package import PushModel
package import RedisProtocol

/// What the audit remembers of one settling.
package struct AuditEntry: Equatable, Sendable {
    package let id: EntryID
    /// nil: the record cannot be read.
    package let groups: [AuditRecord.Group]?
}

/// Reads the audit, the oldest first.
package struct ReadAudit: Request {
    /// Nil: from the beginning.
    package var after: EntryID?
    package var count: Int

    package init(after: EntryID?, count: Int = 16) { (self.after, self.count) = (after, count) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("XRANGE")
        command.append(keys.audit)
        command.append(after.map { [UInt8(ascii: "(")] + $0.bytes } ?? [UInt8(ascii: "-")])
        command.append("+")
        command.append("COUNT")
        command.append(count)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [AuditEntry] {
        try ReplyReader.entries(value, "audit").map { id, words throws(StoreError) in
            guard let bytes = words.array?.last?.bytes else { throw .unexpectedReply("audit, a record") }
            return AuditEntry(id: id, groups: try? AuditRecord.groups(bytes))
        }
    }
}
