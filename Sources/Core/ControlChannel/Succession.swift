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
        case .hostClaim(let nonce): writer.message(1, nonce)
        case .abort: writer.message(2)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1: self = try reader.read(Self.hostClaim)
        case 2: self = .abort
        default: throw .unknownKind(kind)
        }
    }
}

extension SuccessionNotice: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .ready: writer.message(1)
        case .nameClaimed: writer.message(2)
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
