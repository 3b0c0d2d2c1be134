/// A message from a coordinator to its successor.
package enum SuccessorMessage: Equatable, Sendable {
    /// Claim this host's name. The predecessor has released its leases, and no other process uses the name. `nonce` identifies
    /// the predecessor in Redis.
    case hostClaim(nonce: String)
    /// The upgrade is aborted. Release all leases, and exit.
    case abort
}

/// A notice from a coordinator to its predecessor.
package enum SuccessorNotice: Equatable, Sendable {
    /// The successor is connected and its children are ready. The successor acquires each lease as soon as the lease is free.
    case ready
    /// The successor has claimed the host's name.
    case nameClaimed
}

extension SuccessorMessage: ControlMessage {
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

extension SuccessorNotice: ControlMessage {
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
