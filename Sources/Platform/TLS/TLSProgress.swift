/// How far a handshake or a shutdown has come.
package enum TLSProgress: Hashable, Sendable {
    case done
    /// Call again when the socket can be read, or written.
    case wantRead
    case wantWrite
}
