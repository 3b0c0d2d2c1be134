package import PushModel

extension OperatorCommand: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        writer.message(1, id, issuer, host ?? "", verb, arguments, isDryRun)
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        guard kind == 1 else { throw .unknownKind(kind) }
        let (id, issuer, host): (String, String, String) = try reader.readAll()
        self.init(
            id: id, issuer: issuer, host: host.isEmpty ? nil : host, verb: try reader.read(),
            arguments: try reader.read(), isDryRun: try reader.read())
    }
}

extension OperatorReply: ControlMessage {
    package func write(to writer: inout ControlWriter) { writer.message(1, host, state.rawValue, text) }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        guard kind == 1 else { throw .unknownKind(kind) }
        let (host, state): (String, String) = try reader.readAll()
        guard let state = State(rawValue: state) else { throw .unknownKind(kind) }
        self.init(host: host, state: state, text: try reader.read())
    }
}
