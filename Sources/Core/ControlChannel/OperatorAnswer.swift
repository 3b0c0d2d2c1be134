/// What a host says to an ``OperatorCommand``; the last one counts.
package struct OperatorAnswer: Equatable, Sendable {
    package enum State: String, CaseIterable, Sendable {
        /// It has the command.
        case accepted
        /// It is at it; the text says how far.
        case working
        case done
        /// It will not do it, and nothing is changed.
        case refused
        /// It has begun, and cannot finish.
        case failed
    }

    package var host: String
    package var state: State
    /// For a person; lines end with a line feed, but for the last one.
    package var text: String

    package init(host: String, state: State, text: String = "") {
        (self.host, self.state, self.text) = (host, state, text)
    }

    /// No other answer follows.
    package var isLast: Bool { state == .done || state == .refused || state == .failed }
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
