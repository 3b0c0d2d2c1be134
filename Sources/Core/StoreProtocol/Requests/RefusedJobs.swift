package import RedisProtocol

/// A job that was refused, as it is kept.
package struct RefusedJob: Equatable, Sendable {
    package let id: EntryID
    /// Empty: it had no id that could be read.
    package let job: String
    package let field: String
    /// Where in the job, in bytes.
    package let position: Int
    package let reason: String
    /// As it came, cut at ``Refuse/originalLimit``.
    package let original: [UInt8]
    /// For how many jobs it stands: of a flood only some are kept.
    package var jobs = 1

    /// It may have been longer than what is kept.
    package var mayBeCut: Bool { original.count >= Refuse.originalLimit }
}

/// Reads refused jobs, the oldest first, or the youngest first.
package struct ReadRefused: Request {
    package enum Range: Sendable {
        case oldest(after: EntryID?)
        case youngest
        case only(EntryID)
    }

    package var range: Range
    package var count: Int

    package init(_ range: Range, count: Int = 64) { (self.range, self.count) = (range, count) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        if case .youngest = range { command.append("XREVRANGE") } else { command.append("XRANGE") }
        command.append(keys.refused)
        switch range {
        case .oldest(let after):
            command.append(after.map { [UInt8(ascii: "(")] + $0.bytes } ?? [UInt8(ascii: "-")])
            command.append("+")
        case .youngest:
            command.append("+")
            command.append("-")
        case .only(let id):
            command.append(id.bytes)
            command.append(id.bytes)
        }
        command.append("COUNT")
        command.append(count)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> [RefusedJob] {
        try ReplyReader.entries(value, "refused jobs").map { id, words in
            let fields = Dictionary(words.pairs.map { ($0.name.text ?? "", $0.value.bytes ?? []) }) { $1 }
            func text(_ name: String) -> String { String(decoding: fields[name] ?? [], as: UTF8.self) }
            return RefusedJob(
                id: id, job: text("job"), field: text("field"), position: Int(foreign: text("position")) ?? 0,
                reason: text("reason"), original: fields["original"] ?? [],
                jobs: max(1, Int(foreign: text("jobs")) ?? 1))
        }
    }
}
