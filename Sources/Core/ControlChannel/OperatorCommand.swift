/// What an operator tells the coordinators, through Redis or over a coordinator's control socket.
package struct OperatorCommand: Equatable, Sendable {
    /// Each is carried out once, however often it arrives.
    package var id: String
    /// Who says it: `user@machine`.
    package var issuer: String
    /// Nil: every host.
    package var host: String?
    /// One of ``OperatorVerb``, or a newer one.
    package var verb: String
    package var arguments: [String]
    /// Says what it would do, and does nothing.
    package var isDryRun: Bool

    package init(
        id: String, issuer: String, host: String?, verb: String, arguments: [String] = [],
        isDryRun: Bool = false
    ) {
        (self.id, self.issuer, self.host, self.verb) = (id, issuer, host, verb)
        (self.arguments, self.isDryRun) = (arguments, isDryRun)
    }

    /// As a person would write it.
    package var text: String {
        ([verb] + arguments + (host.map { ["--host", $0] } ?? []) + (isDryRun ? ["--dry-run"] : []))
            .joined(separator: " ")
    }
}

extension OperatorCommand: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        writer.kind(1)
        writer.text(id)
        writer.text(issuer)
        writer.text(host ?? "")
        writer.text(verb)
        writer.list(arguments) { $0.text($1) }
        writer.number(UInt8(isDryRun ? 1 : 0))
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        guard kind == 1 else { throw .unknownKind(kind) }
        let (id, issuer, host) = (try reader.text(), try reader.text(), try reader.text())
        self.init(
            id: id, issuer: issuer, host: host.isEmpty ? nil : host, verb: try reader.text(),
            arguments: try reader.list { reader throws(ControlError) in try reader.text() },
            isDryRun: try reader.flag())
    }
}
