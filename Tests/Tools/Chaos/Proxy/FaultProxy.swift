package import EventLoop
package import Transport

/// A proxy between two peers that forwards all bytes and injects faults on demand.
///
/// A fault applies to all present and new links. A single link can have its own faults.
@Loop package final class FaultProxy {
    /// How the proxy treats a new connection.
    package enum AcceptMode: Sendable {
        /// The connection is accepted and forwarded.
        case link
        /// The connection is accepted and closed at once, by FIN or by a reset.
        case close, reset
        /// The connection is accepted, and no bytes are forwarded.
        case silence
    }

    /// The address on which the proxy listens.
    package private(set) var address: SocketAddress
    package private(set) var links: [ProxyLink] = []
    /// The number of links made so far.
    package private(set) var linked = 0
    package var welcome = AcceptMode.link
    /// The faults of all links. Setting this property also replaces the faults of single links.
    package var fare = LinkFaults() {
        didSet { for link in links { link.fare = fare } }
    }

    private let target: Endpoint
    private var listener: Listener?
    /// Accepted connections that the proxy ignores.
    private var ignored: [ByteStream] = []

    /// - Parameters:
    ///   - endpoint: the address to listen on. With port 0 the system chooses a port.
    ///   - target: the address to forward connections to.
    package init(_ endpoint: Endpoint, to target: Endpoint) async throws {
        self.target = target
        let relay = Relay()
        let listener = try await Listener(endpoint, tls: nil) { relay.proxy?.greet($0) }
        self.listener = listener
        address = listener.address
        relay.proxy = self
    }

    package var port: UInt16 { address.port }

    /// Cuts the chosen links at once.
    package func cut(_ how: ProxyLink.Cut, where isMeant: (ProxyLink) -> Bool = { _ in true }) {
        for link in links where isMeant(link) { link.cut(how) }
    }

    /// Removes all faults of present and new links.
    package func heal() {
        welcome = .link
        fare = LinkFaults()
        for stream in ignored { stream.reset() }
        ignored = []
    }

    package func close() {
        listener?.close()
        listener = nil
        cut(.reset)
        heal()
    }

    private func greet(_ stream: ByteStream) {
        switch welcome {
        case .close: stream.close()
        case .reset: stream.reset()
        case .silence:
            stream.isReading = false
            ignored.append(stream)
        case .link: Loop.task { await self.link(stream) }
        }
    }

    private func link(_ near: ByteStream) async {
        near.isReading = false
        var isGone = false
        near.onEnd = { _ in isGone = true }
        let far = try? await Dial(target, timeout: .seconds(5)).connect()
        guard let far, !isGone, listener != nil else {
            far?.close()
            return near.reset()
        }
        linked += 1
        let link = ProxyLink(number: linked, near: near, far: far, fare: fare) { [weak self] link in
            self?.links.removeAll { $0 === link }
        }
        links.append(link)
        near.isReading = true
    }

    /// Passes callbacks of the listener to the proxy. The listener is created before the proxy, so its callback cannot refer to
    /// the proxy directly.
    @Loop private final class Relay {
        weak var proxy: FaultProxy?
    }
}
