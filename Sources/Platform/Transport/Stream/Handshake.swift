import EventLoop
import OpenSSL

/// Completes the TLS handshake of a session.
@Loop enum Handshake {
    /// - Throws: the session's error, or ``TransportError/timedOut(stage:)``. The descriptor stays open.
    static func finish(
        _ session: consuming TLSSession, _ descriptor: Int32, peer: SocketAddress, waiter: SocketWaiter
    ) async throws(TransportError) -> ByteStream {
        while true {
            let progress: TLSProgress
            do throws(TLSError) { progress = try session.handshake() } catch { throw .tls(error) }
            switch progress {
            case .done: return ByteStream.adopt(descriptor, .tls(session), peer: peer, waiter)
            case .wantRead: try await waiter.wait(for: .readable, stage: "TLS handshake")
            case .wantWrite: try await waiter.wait(for: .writable, stage: "TLS handshake")
            }
        }
    }
}

extension ByteStream {
    /// Takes over a descriptor that another process passed to this one, such as a control channel.
    package static func adopt(descriptor: Int32, peer: String) -> ByteStream {
        Socket.setFlags(descriptor)
        return ByteStream(descriptor, .plain, peer: peer)
    }

    /// Moves a descriptor from its waiter to the stream that will use it.
    static func adopt(
        _ descriptor: Int32, _ channel: consuming Channel, peer: SocketAddress, _ waiter: SocketWaiter
    ) -> ByteStream {
        waiter.release()
        return ByteStream(descriptor, channel, peer: peer.description)
    }
}
