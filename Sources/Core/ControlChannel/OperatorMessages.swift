package import PushModel

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

extension OperatorAnswer: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        writer.kind(1)
        writer.text(host)
        writer.text(state.rawValue)
        writer.text(text)
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        guard kind == 1 else { throw .unknownKind(kind) }
        let host = try reader.text()
        guard let state = State(rawValue: try reader.text()) else { throw .unknownKind(kind) }
        self.init(host: host, state: state, text: try reader.text())
    }
}
