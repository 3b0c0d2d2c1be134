import EventLoop
import HTTP2
import OpenSSL
import Simulator
import Transport

/// A gateway whose responses the test chooses: any status, any header value, any body.
@Loop final class ScriptedGateway {
    struct Reply {
        var status: UInt16 = 200
        var retryAfter: String?
        var body: [UInt8] = []
        /// Whether the gateway sends no response, but a GOAWAY with the stream of the request as the last stream.
        var isGoAway = false
    }

    /// The number of requests with response 200.
    private(set) var accepted = 0
    private let respond: @Loop () -> Reply
    private var listener: Listener?
    private var peers: [Peer] = []
    /// The number of connections since the start.
    var connections: Int { peers.count }

    private init(_ respond: @escaping @Loop () -> Reply) { self.respond = respond }

    /// - Parameter identity: the identity that clients trust.
    static func start(
        _ identity: TLSIdentity, _ respond: @escaping @Loop () -> Reply
    ) async throws -> ScriptedGateway {
        let gateway = ScriptedGateway(respond)
        let settings = ServerSettings(identity: identity, applicationProtocols: ["h2"])
        gateway.listener = try await Listener(
            .tcp(host: "127.0.0.1", port: 0), tls: TLSContext(server: settings)
        ) { [unowned gateway] in gateway.peers.append(Peer($0, of: gateway)) }
        return gateway
    }

    var port: UInt16 { listener?.address.port ?? 0 }

    func stop() {
        listener?.close()
        for peer in peers { peer.stream.close() }
        peers = []
    }

    @Loop private final class Peer {
        let stream: ByteStream
        private let session: ServerSession
        private unowned let gateway: ScriptedGateway

        init(_ stream: ByteStream, of gateway: ScriptedGateway) {
            var settings = SessionSettings()
            settings.maxConcurrentStreams = 100
            (self.stream, self.gateway) = (stream, gateway)
            session = ServerSession(settings: settings)
            stream.onBytes = { [unowned self] bytes in
                do { try session.receive(bytes) } catch { self.stream.close() }
                drain()
                self.stream.setNeedsFlush()
            }
            stream.source = { [unowned self] output in
                output.append(upTo: 65_536) { room in
                    do { return try session.fill(room) } catch { return 0 }
                }
            }
            stream.setNeedsFlush()
        }

        private func drain() {
            while let event = session.nextEvent() {
                if case .request(let request) = event { respond(to: request.stream) }
            }
        }

        private func respond(to stream: Int32) {
            let reply = gateway.respond()
            guard !reply.isGoAway else { return session.goAway(lastStream: stream) }
            if reply.status == 200 { gateway.accepted += 1 }
            var fields: [HeaderField] = [.fixed(":status", "\(reply.status)")]
            if let wait = reply.retryAfter { fields.append(.fixed("retry-after", wait)) }
            reply.body.withUnsafeBytes { _ = session.respond(to: stream, HeaderBlock(fields), body: $0) }
        }
    }
}
