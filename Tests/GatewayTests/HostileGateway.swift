import EventLoop
import HTTP2
import OpenSSL
import Simulator
import Transport

@testable import Gateway

/// A gateway over TLS whose first connections misbehave. On later connections, the gateway responds to every request.
@Loop final class HostileGateway {
    /// How a misbehaving connection behaves.
    enum Behaviour: CaseIterable, Sendable {
        case pings, emptyData, drippingBody, shutWindow, noStreams, bytewise, silence
        /// `goAway` sends GOAWAY with last stream 0 at once. `announcedGoAway` sends GOAWAY with the highest possible last
        /// stream at once, and then no responses.
        case goAway, announcedGoAway
        case refusals
    }

    let conduct: Behaviour
    let authority: ThrowAwayAuthority
    /// The number of connections that misbehave.
    var misbehaving: Int
    /// The number of requests to which a misbehaving connection responds before it misbehaves.
    let responses: Int
    /// The time at which each connection was accepted.
    private(set) var acceptances: [ContinuousClock.Instant] = []
    private(set) var requests = 0
    private(set) var pings = 0
    private var listener: Listener?
    private var peers: [HostilePeer] = []

    init(_ conduct: Behaviour, misbehaving: Int, responses: Int = 0) async throws {
        (self.conduct, self.misbehaving, self.responses) = (conduct, misbehaving, responses)
        authority = try ThrowAwayAuthority()
        let settings = ServerSettings(
            identity: try authority.server(names: ["localhost"]), applicationProtocols: ["h2"])
        listener = try await Listener(
            .tcp(host: "127.0.0.1", port: 0), tls: try TLSContext(server: settings)
        ) { [unowned self] stream in accept(stream) }
    }

    func plan(timeout: Duration) throws -> GatewaySettings {
        var settings = ClientSettings(trust: .authorities(authority.certificatePEM))
        settings.applicationProtocols = ["h2"]
        return GatewaySettings(
            host: "localhost", port: listener?.address.port ?? 0, tls: try TLSContext(client: settings),
            providerToken: nil, generation: 1, requestTimeout: timeout, connections: 1, firstAddress: 0)
    }

    var connections: Int { acceptances.count }

    private func accept(_ stream: ByteStream) {
        acceptances.append(.now)
        let peer = HostilePeer(
            stream, connections <= misbehaving ? conduct : nil, responses: responses
        ) { [unowned self] in if $0 { requests += 1 } else { pings += 1 } }
        peers.append(peer)
    }
}

/// One connection of a ``HostileGateway``.
@Loop private final class HostilePeer {
    private typealias Behaviour = HostileGateway.Behaviour

    private let stream: ByteStream
    private let session: ServerSession
    private let conduct: HostileGateway.Behaviour?
    private var responses: Int
    /// Called with true for each request, and with false for each PING.
    private let count: @Loop (Bool) -> Void
    private var open: [Int32] = []
    private var isSilent = false
    private var hasTurned = false
    private var timer: Timer?

    init(
        _ stream: ByteStream, _ conduct: HostileGateway.Behaviour?, responses: Int,
        count: @escaping @Loop (Bool) -> Void
    ) {
        (self.stream, self.conduct, self.responses, self.count) = (stream, conduct, responses, count)
        var settings = SessionSettings()
        settings.maxConcurrentStreams = conduct == .noStreams && responses == 0 ? 0 : 50
        if conduct == .shutWindow { settings.initialWindowSize = 0 }
        session = ServerSession(settings: settings)
        isSilent = conduct == .silence && responses == 0
        stream.onBytes = { [unowned self] bytes in
            do { try session.receive(bytes) } catch { self.stream.close() }
            drain()
            self.stream.setNeedsFlush()
        }
        stream.onEnd = { [unowned self] _ in timer?.stop() }
        stream.source = { [unowned self] output in
            guard !isSilent else { return }
            output.append(upTo: 65_536) { room in
                do { return try session.fill(room) } catch { return 0 }
            }
        }
        timer = Timer { [unowned self] in tick() }
        timer?.start(after: .milliseconds(20), every: .milliseconds(20))
        if conduct == .goAway { session.goAway(lastStream: 0) }
        if conduct == .announcedGoAway { session.announceGoAway() }
        stream.setNeedsFlush()
    }

    private func drain() {
        while let event = session.nextEvent() {
            switch event {
            case .request(let request):
                count(true)
                received(request.stream)
            case .ping: count(false)
            case .closed(let number, _, _): open.removeAll { $0 == number }
            default: break
            }
        }
    }

    private func received(_ number: Int32) {
        guard let conduct, responses == 0 else {
            responses -= 1
            session.respond(to: number, HeaderBlock([.fixed(":status", "200")]))
            return
        }
        switch conduct {
        case .refusals: session.refuse(number)
        case .emptyData: write(type: 1, flags: 4, stream: number, [0x88])
        case .drippingBody: write(type: 1, flags: 4, stream: number, [0x8C])
        case .noStreams where !hasTurned: session.setMaxConcurrentStreams(0)
        default: break
        }
        hasTurned = true
        open.append(number)
    }

    private func tick() {
        switch conduct {
        case .pings: session.ping(7)
        case .emptyData: for number in open { write(type: 0, flags: 0, stream: number, []) }
        case .drippingBody: for number in open { write(type: 0, flags: 0, stream: number, [0x7B]) }
        case .bytewise where hasTurned:
            // Sends the start of a frame of an unknown type, and then its payload, one byte at a time.
            if !isSilent {
                stream.sendNow()
                write(Array([0, 0x3E, 0x80, 0x2A, 0, 0, 0, 0, 0]))
            }
            isSilent = true
            write([0])
        case .silence: isSilent = hasTurned || isSilent
        default: break
        }
        stream.setNeedsFlush()
    }

    private func write(type: UInt8, flags: UInt8, stream number: Int32, _ payload: [UInt8]) {
        let head: [UInt8] = [0, 0, UInt8(payload.count), type, flags]
        write(head + withUnsafeBytes(of: number.bigEndian) { Array($0) } + payload)
    }

    private func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { stream.write($0) } }
}
