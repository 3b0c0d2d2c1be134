/// How far a handshake or a shutdown has come.
package enum TLSProgress: Hashable, Sendable {
    case done
    /// Call again when the socket can be read, or written.
    case wantRead
    case wantWrite
}

/// What became of a read or a write.
package enum TLSTransfer: Hashable, Sendable {
    /// So many bytes were moved; at least one.
    case bytes(Int)
    /// Call again when the socket can be read, or written; a write must then offer the same bytes again, or
    /// more.
    case wantRead
    case wantWrite
    /// The peer said goodbye (close_notify): nothing more will come.
    case closed
}

extension TLSTransfer {
    init(_ obstacle: TLSSession.Obstacle) {
        switch obstacle {
        case .wantRead: self = .wantRead
        case .wantWrite: self = .wantWrite
        case .closed: self = .closed
        }
    }
}
