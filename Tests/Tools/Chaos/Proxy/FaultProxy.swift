package import EventLoop
package import Transport

/// A proxy between two peers that forwards all bytes and injects faults on demand.
///
/// A setting applies to all present and new links; a single link can have its own.
@Loop package final class FaultProxy {
    /// How the proxy treats a new connection.
    package enum Welcome: Sendable {
        /// It is forwarded.
        case link
        /// It is accepted and closed at once, by FIN or by a reset.
        case close, reset
        /// It is accepted, and nothing is forwarded.
        case silence
    }

    /// The address on which it listens.
    package private(set) var address: SocketAddress
    package private(set) var links: [ProxyLink] = []
    /// Links made so far.
    package private(set) var linked = 0
    package var welcome = Welcome.link
    /// The faults of all links; setting them also replaces the faults of single links.
    package var fare = LinkFare() {
        didSet { for link in links { link.fare = fare } }
    }

    private let target: Endpoint
    private var listener: Listener?
    /// Connections that get no answer.
    private var ignored: [ByteStream] = []

    /// - Parameters:
    ///   - endpoint: where to listen; with port 0 the system chooses a port.
    ///   - target: where connections are forwarded to.
    package init(_ endpoint: Endpoint, to target: Endpoint) async throws {
        self.target = target
        let relay = Relay()
        let listener = try await Listener(endpoint, tls: nil) { relay.proxy?.greet($0) }
        self.listener = listener
        address = listener.address
        relay.proxy = self
    }

    package var port: UInt16 { address.port }

    /// Ends links at once.
    package func cut(_ how: ProxyLink.Cut, where isMeant: (ProxyLink) -> Bool = { _ in true }) {
        for link in links where isMeant(link) { link.cut(how) }
    }

    /// Removes all faults of present and new links.
    package func heal() {
        welcome = .link
        fare = LinkFare()
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

    /// The listener exists before its proxy.
    @Loop private final class Relay {
        weak var proxy: FaultProxy?
    }
}
