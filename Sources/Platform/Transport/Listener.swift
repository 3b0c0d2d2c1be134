package import EventLoop
package import OpenSSL
import POSIX

/// Accepts streams. Each stream is passed to `onStream` after its TLS handshake. A stream whose handshake fails or times out is
/// closed and counted.
@Loop package final class Listener {
    /// The address of the listening socket, with the port that the system chose for port 0.
    package let address: SocketAddress
    /// Handshakes that failed or timed out.
    package private(set) var failedHandshakes = 0
    /// Handshakes that this side aborted because ``breaksHandshake`` returned true.
    package private(set) var brokenHandshakes = 0
    /// Called once for each connection. If the result is true, the listener aborts the handshake. Used by tests of clients.
    package var breaksHandshake: @Loop () -> Bool = { false }
    /// Called once for each connection. The handshake starts after the returned delay. Used by tests of clients.
    package var acceptDelay: @Loop () -> Duration = { .zero }
    /// The number of connections that wait for ``acceptDelay``: the present number, and the highest number so far.
    package private(set) var delayed = (now: 0, most: 0)
    /// The number of handshakes in progress.
    package private(set) var handshakes = 0

    private let descriptor: Int32
    private let tls: TLSContext?
    private let handshakeTimeout: Duration
    private let onStream: @Loop (ByteStream) -> Void
    private var poll: Poll?
    private var retry: Timer?

    /// - Parameters:
    ///   - mode: the permissions of a Unix socket's file, set before the file can be used.
    ///   - onStream: gets each new stream.
    /// - Throws: ``TransportError`` when the address cannot be bound.
    package init(
        _ endpoint: Endpoint, tls: TLSContext?, mode: UInt32 = 0o600,
        handshakeTimeout: Duration = .seconds(10),
        onStream: @escaping @Loop (ByteStream) -> Void
    ) async throws(TransportError) {
        let target = try await endpoint.addresses()[0]
        descriptor = try Socket.open(target.family)
        self.tls = tls
        self.handshakeTimeout = handshakeTimeout
        self.onStream = onStream
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        if case .unix = endpoint { Socket.limitMode(descriptor, mode) }
        guard target.bind(descriptor) == 0, Self.setMode(mode, of: endpoint), listen(descriptor, 1024) == 0
        else {
            let number = errno
            Socket.close(descriptor)
            throw .system(call: "cannot listen on \(endpoint)", number: number)
        }
        address = SocketAddress(boundTo: descriptor) ?? target
        poll = Poll(descriptor) { [unowned self] _ in accept() }
        poll?.watch(.readable)
    }

    isolated deinit { close() }

    /// Stops listening. Accepted streams stay open.
    package func close() {
        guard let poll else { return }
        poll.cancel()
        self.poll = nil
        Socket.close(descriptor)
    }

    private func accept() {
        for _ in 0..<64 {
            do {
                guard let accepted = try Socket.accept(descriptor, address.family) else { return }
                let peer = SocketAddress(peerOf: accepted) ?? address
                Loop.task { await self.greet(accepted, peer) }
            } catch {
                return pause()
            }
        }
    }

    /// Waits after a failed accept, which usually fails because no descriptor is free. The socket stays readable, so without a
    /// delay the listener would retry in a busy loop.
    private func pause() {
        poll?.watch([])
        retry = Timer { [unowned self] in poll?.watch(.readable) }
        retry?.start(after: .milliseconds(100))
    }

    private func greet(_ accepted: Int32, _ peer: SocketAddress) async {
        guard await waitBeforeHandshake() else { return Socket.close(accepted) }
        guard let tls else { return handOver(ByteStream(accepted, .plain, peer: peer.description)) }
        let waiter = SocketWaiter(accepted, deadline: .now + handshakeTimeout)
        handshakes += 1
        defer { handshakes -= 1 }
        do {
            if breaksHandshake() { return try await breakOff(accepted, waiter) }
            let session = try TLSSession(server: tls, socket: accepted)
            handOver(try await Handshake.finish(session, accepted, peer: peer, waiter: waiter))
        } catch {
            waiter.release()
            Socket.close(accepted)
            failedHandshakes += 1
        }
    }

    /// - Returns: whether the listener is still open.
    private func waitBeforeHandshake() async -> Bool {
        let delay = acceptDelay()
        guard delay > .zero else { return true }
        delayed.now += 1
        delayed.most = max(delayed.most, delayed.now)
        defer { delayed.now -= 1 }
        do { try await Loop.sleep(for: delay) } catch { return false }
        return poll != nil
    }

    /// Aborts a handshake: reads the start of the client's handshake and closes the connection without a response.
    private func breakOff(_ accepted: Int32, _ waiter: SocketWaiter) async throws(TransportError) {
        try await waiter.wait(for: .readable, stage: "TLS handshake")
        _ = Channel.plain.read(accepted, into: ReadBuffer.shared)
        waiter.release()
        Socket.close(accepted)
        brokenHandshakes += 1
    }

    /// Passes a stream to `onStream`. If the listener is closed, closes the stream instead, because the owner of `onStream` may
    /// be freed already.
    private func handOver(_ stream: ByteStream) {
        if poll == nil { stream.close() } else { onStream(stream) }
    }

    /// Sets the permissions of a Unix socket's file, because the umask may have removed some.
    private static func setMode(_ mode: UInt32, of endpoint: Endpoint) -> Bool {
        guard case .unix(let path) = endpoint else { return true }
        return fchmodat(AT_FDCWD, path, mode_t(mode), AT_SYMLINK_NOFOLLOW) == 0
    }
}
