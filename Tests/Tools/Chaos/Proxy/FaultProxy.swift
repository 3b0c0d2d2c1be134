package import EventLoop
package import Transport

/// Stands between two peers, hands every byte on, and spoils that when it is told to.
///
/// A setting holds for all links, present and new; a link may also be spoiled by itself.
@Loop package final class FaultProxy {
    /// What becomes of a connection that a peer makes.
    package enum Welcome: Sendable {
        /// It is led to the other side.
        case link
        /// It is taken and closed at once, by FIN or by a reset.
        case close, reset
        /// It is taken, and nothing ever comes of it.
        case silence
    }

    /// Where it listens: what the peers are told to connect to.
    package private(set) var address: SocketAddress
    package private(set) var links: [ProxyLink] = []
    /// Links made so far.
    package private(set) var linked = 0
    package var welcome = Welcome.link
    /// How all links fare; setting it also changes those whose own fare was set.
    package var fare = LinkFare() {
        didSet { for link in links { link.fare = fare } }
    }

    private let target: Endpoint
    private var listener: Listener?
    /// Connections that get no answer.
    private var ignored: [ByteStream] = []

    /// - Parameters:
    ///   - endpoint: where to listen; port 0 for one that the system chooses.
    ///   - target: what peers are led to.
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

    /// All as it should be: for present links and new ones.
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

    /// The listener comes before the proxy that it serves.
    @Loop private final class Relay {
        weak var proxy: FaultProxy?
    }
}
