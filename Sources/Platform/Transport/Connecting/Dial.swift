package import EventLoop
package import OpenSSL
import POSIX

/// Opens connections to a peer: finds the peer's addresses, connects, asks a proxy for a tunnel, and makes the TLS handshake.
@Loop package struct Dial {
    package var endpoint: Endpoint
    /// The TLS settings; `nil` for a plain stream.
    package var tls: TLSContext?
    /// The name that the peer's certificate must contain; `nil` uses the endpoint's host.
    package var serverName: String?
    /// An HTTP proxy that opens a tunnel by CONNECT; `nil` for a direct connection.
    package var proxy: Endpoint?
    /// The index of the resolved address to try first, modulo the number of addresses. Different indexes spread workers over the
    /// addresses.
    package var firstAddress: Int
    /// The timeout of the whole dial: resolving, connecting, proxy and handshake.
    package var timeout: Duration

    package init(
        _ endpoint: Endpoint, tls: TLSContext? = nil, serverName: String? = nil, proxy: Endpoint? = nil,
        firstAddress: Int = 0, timeout: Duration
    ) {
        self.endpoint = endpoint
        self.tls = tls
        self.serverName = serverName
        self.proxy = proxy
        self.firstAddress = firstAddress
        self.timeout = timeout
    }

    /// Tries the addresses in order. Each address gets an equal share of the remaining time.
    package func connect() async throws(TransportError) -> ByteStream {
        let deadline = ContinuousClock.now + timeout
        let addresses = try await resolve(proxy ?? endpoint, deadline: deadline)
        var reasons: [String] = []
        for index in addresses.indices {
            let address = addresses[(index + firstAddress) % addresses.count]
            let remaining = deadline - .now
            guard remaining > .zero else { break }
            let share = ContinuousClock.now + remaining / (addresses.count - index)
            do {
                return try await connect(to: address, tcpDeadline: share, deadline: deadline)
            } catch .unreachable(let reason) {
                reasons.append("\(address): \(reason)")
            }
        }
        throw .unreachable(reasons.isEmpty ? "no time left" : reasons.joined(separator: "; "))
    }

    private func resolve(
        _ target: Endpoint, deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> [SocketAddress] {
        let lookup = await Deadline.race(until: deadline) {
            () async -> Result<[SocketAddress], TransportError> in
            do throws(TransportError) { return .success(try await target.addresses()) } catch {
                return .failure(error)
            }
        }
        guard let lookup else { throw .timedOut(stage: "resolving \(target.host)") }
        return try lookup.get()
    }

    private func connect(
        to address: SocketAddress, tcpDeadline: ContinuousClock.Instant, deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> ByteStream {
        let descriptor: Int32
        // `Socket.open` fails if this host does not support the family of the address. Then the caller tries the next address.
        do { descriptor = try Socket.open(address.family) } catch { throw .unreachable("\(error)") }
        do {
            try await Self.finishConnect(descriptor, to: address, deadline: tcpDeadline)
            let waiter = SocketWaiter(descriptor, deadline: deadline)
            defer { waiter.release() }
            if proxy != nil { try await ProxyTunnel.open(descriptor, to: endpoint, waiter: waiter) }
            guard let tls else { return ByteStream.adopt(descriptor, .plain, peer: address, waiter) }
            let session = try Self.session(tls, descriptor, name: serverName ?? endpoint.host)
            return try await Handshake.finish(session, descriptor, peer: address, waiter: waiter)
        } catch {
            _ = close(descriptor)
            throw error
        }
    }

    private static func finishConnect(
        _ descriptor: Int32, to address: SocketAddress, deadline: ContinuousClock.Instant
    ) async throws(TransportError) {
        var number: Int32 = address.connect(descriptor) == 0 ? 0 : errno
        // EAGAIN counts as an error. EAGAIN means that the queue of a Unix socket's listener is full, or that no local port is
        // free. No event reports when the queue has room or a port is free, so this function cannot wait for this.
        if number == EINPROGRESS || number == EINTR {
            let waiter = SocketWaiter(descriptor, deadline: deadline)
            defer { waiter.release() }
            do throws(TransportError) { try await waiter.wait(for: .writable, stage: "connect") } catch {
                throw .unreachable("timed out")
            }
            number = Socket.pendingError(descriptor)
        }
        guard number == 0 else { throw .unreachable("\(SystemFailure.call(number))") }
    }

    private static func session(
        _ context: TLSContext, _ descriptor: Int32, name: String
    ) throws(TransportError) -> TLSSession {
        do { return try TLSSession(client: context, socket: descriptor, serverName: name) } catch {
            throw .tls(error)
        }
    }
}

/// The address of a stream's peer.
package enum Endpoint: Hashable, Sendable, CustomStringConvertible {
    case tcp(host: String, port: UInt16)
    case unix(path: String)

    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        }
    }

    /// The host's name; "localhost" for a socket path.
    package var host: String {
        switch self {
        case .tcp(let host, _): host
        case .unix: "localhost"
        }
    }

    /// All addresses of the host; never empty.
    func addresses() async throws(TransportError) -> [SocketAddress] {
        switch self {
        case .unix(let path):
            guard let address = SocketAddress(path: path) else { throw .pathTooLong(path) }
            return [address]
        case .tcp(let host, let port):
            do { return try await Resolver.resolve(host: host, port: port) } catch {
                throw .unresolved(host: host, reason: "\(error)")
            }
        }
    }
}

/// Limits the wait for an operation that has no timeout of its own.
@Loop package enum Deadline {
    /// - Returns: the result of `body`, or `nil` after the deadline. After the deadline, `body` continues to run, but this
    ///   function has returned and ignores the result of `body`.
    package static func race<Value: Sendable>(
        until deadline: ContinuousClock.Instant, _ body: @escaping @Loop () async -> Value
    ) async -> Value? {
        let race = Race<Value>()
        return await race.run(until: deadline, body)
    }

    @Loop private final class Race<Value: Sendable> {
        private var continuation: CheckedContinuation<Value?, Never>?
        private var timer: Timer?

        func run(
            until deadline: ContinuousClock.Instant, _ body: @escaping @Loop () async -> Value
        ) async -> Value? {
            await withCheckedContinuation { continuation in
                self.continuation = continuation
                timer = Timer { [weak self] in self?.finish(nil) }
                timer?.start(after: deadline - .now)
                Loop.task { self.finish(await body()) }
            }
        }

        private func finish(_ value: sending Value?) {
            continuation?.resume(returning: value)
            continuation = nil
            timer?.stop()
        }
    }
}

/// Waits for events of a socket during connect, proxy response and handshake.
@Loop final class SocketWaiter {
    private let deadline: ContinuousClock.Instant
    private var poll: Poll?
    private var timer: Timer?
    private var continuation: CheckedContinuation<Bool, Never>?

    init(_ descriptor: Int32, deadline: ContinuousClock.Instant) {
        self.deadline = deadline
        poll = Poll(descriptor) { [unowned self] _ in finish(true) }
    }

    /// - Throws: ``TransportError/timedOut(stage:)`` when the deadline passes first.
    func wait(for interest: Poll.Interest, stage: String) async throws(TransportError) {
        let remaining = deadline - .now
        guard remaining > .zero else { throw .timedOut(stage: stage) }
        if timer == nil { timer = Timer { [unowned self] in finish(false) } }
        let ready = await withCheckedContinuation { continuation in
            self.continuation = continuation
            timer?.start(after: remaining)
            poll?.watch(interest)
        }
        guard ready else { throw .timedOut(stage: stage) }
    }

    func release() {
        poll?.cancel()
        poll = nil
        timer = nil
    }

    private func finish(_ ready: Bool) {
        poll?.watch([])
        timer?.stop()
        continuation?.resume(returning: ready)
        continuation = nil
    }
}
