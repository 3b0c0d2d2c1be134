/// An order of a coordinator to its successor.
package enum SuccessionOrder: Equatable, Sendable {
    /// Everything was given back, and no other process has anything of this host: the host's name is yours. `nonce`: of the
    /// coordinator that ends.
    case hostClaim(nonce: String)
    /// It is not to be: give everything back, and end.
    case abort
}

/// A notice of a coordinator to its predecessor.
package enum SuccessionNotice: Equatable, Sendable {
    /// Connected, with its children ready: it takes what becomes free.
    case ready
    /// It has the host's name.
    case nameClaimed
}

extension SuccessionOrder: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .hostClaim(let nonce):
            writer.kind(1)
            writer.text(nonce)
        case .abort: writer.kind(2)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1: self = .hostClaim(nonce: try reader.text())
        case 2: self = .abort
        default: throw .unknownKind(kind)
        }
    }
}

extension SuccessionNotice: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .ready: writer.kind(1)
        case .nameClaimed: writer.kind(2)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1: self = .ready
        case 2: self = .nameClaimed
        default: throw .unknownKind(kind)
        }
    }
}
