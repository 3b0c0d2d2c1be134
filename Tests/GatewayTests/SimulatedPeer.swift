import HTTP2
import RandomTesting

/// A gateway that the simulation controls. The gateway records which pushes it processed and which it refused.
final class SimulatedPeer {
    typealias Serial = ExchangeSimulation.Serial

    let session: ServerSession
    /// Pushes that the gateway processed.
    private(set) var processed: Set<Serial> = []
    /// The statuses that the gateway sent. The client may not have received all of them.
    private(set) var statuses: [Serial: Int] = [:]
    /// Pushes that the gateway refused without processing.
    private(set) var refused: Set<Serial> = []
    /// Pushes that the client considers unprocessed. The gateway must not process them, because the client may send them
    /// again over another connection.
    var free: Set<Serial> = []
    /// A description of a broken rule; nil if no rule was broken.
    private(set) var fault: String?
    private(set) var hasSaidGoodbye = false

    private var open: [(stream: Int32, serial: Serial)] = []
    private var responded: [(stream: Int32, serial: Serial)] = []
    private var newestProcessed: Int32 = 0
    /// The last stream in the GOAWAY of the gateway.
    private var last: Int32?
    private let accepted = HeaderBlock([.fixed(":status", "200")])
    private static let statuses = [400, 410, 429, 500, 503]
    private let refusals = statuses.map { HeaderBlock([.fixed(":status", "\($0)")]) }

    init(limit: UInt32) {
        var settings = SessionSettings()
        settings.maxConcurrentStreams = limit
        session = ServerSession(settings: settings)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws {
        guard !bytes.isEmpty else { return }
        try session.receive(bytes)
        try drain()
    }

    func drain() throws {
        while let event = session.nextEvent() {
            switch event {
            case .request(let request):
                let path = request.value(.path).map { String(decoding: $0, as: UTF8.self) } ?? ""
                guard let serial = Serial(path.suffix(8), radix: 16) else {
                    throw BrokenInvariant(description: "the path is \(path)")
                }
                guard request.value(.contentLength).map({ String(decoding: $0, as: UTF8.self) }) == "2" else {
                    throw BrokenInvariant(description: "push \(serial) does not say how long it is")
                }
                // The gateway ignores streams above the last stream of its GOAWAY, even while the GOAWAY is not sent yet.
                if request.stream <= last ?? .max { open.append((request.stream, serial)) }
            case .closed(let stream, _, _):
                open.removeAll { $0.stream == stream }
                responded.removeAll { $0.stream == stream }
            case .failed(let error):
                throw BrokenInvariant(description: "the client breaks the protocol: \(error)")
            case .refused, .settings, .goAway, .ping: break
            }
        }
    }

    private func process(_ push: (stream: Int32, serial: Serial)) {
        if free.contains(push.serial) {
            fault = "push \(push.serial) is processed though it was given up as unprocessed"
        }
        if !processed.insert(push.serial).inserted { fault = "push \(push.serial) is processed twice" }
        newestProcessed = max(newestProcessed, push.stream)
    }

    /// Responds to a push, mostly with success.
    func act(chance: (ClosedRange<Int>) -> Int) throws {
        guard !open.isEmpty else { return }
        let push = open.remove(at: chance(0...open.count - 1))
        if chance(0...5) > 0 {
            process(push)
            statuses[push.serial] = 200
            session.respond(to: push.stream, accepted)
        } else {
            let index = chance(0...Self.statuses.count - 1)
            statuses[push.serial] = Self.statuses[index]
            Array(#"{"reason":"Some"}"#.utf8).withUnsafeBytes {
                _ = session.respond(to: push.stream, refusals[index], body: $0)
            }
        }
        responded.append(push)
    }

    /// Resets the stream of a push: during the response with the code CANCEL, or before or after processing with a random
    /// code.
    func reset(chance: (ClosedRange<Int>) -> Int) {
        if chance(0...3) == 0, !responded.isEmpty {
            let push = responded.remove(at: chance(0...responded.count - 1))
            return session.reset(push.stream, code: 8)
        }
        guard !open.isEmpty else { return }
        let push = open.remove(at: chance(0...open.count - 1))
        let code = UInt32(chance(0...14))
        if code == ErrorCode.refusedStream {
            refused.insert(push.serial)
        } else if chance(0...1) == 0 {
            process(push)
        }
        session.reset(push.stream, code: code)
    }

    /// Sends GOAWAY: either only an announcement with the highest possible last stream, or the GOAWAY with the true last stream.
    func goAway(chance: (ClosedRange<Int>) -> Int) {
        guard last == nil else { return }
        hasSaidGoodbye = true
        if chance(0...1) == 0 { return session.announceGoAway() }
        let newest = max(session.newestStream, newestProcessed)
        let last = chance(0...2) == 0 ? newest : newestProcessed
        self.last = last
        session.goAway(lastStream: last, code: UInt32(chance(0...2)))
        open.removeAll { $0.stream > last }
    }

    /// The connection is lost. The gateway may still process bytes that have arrived.
    func finish(_ bytes: [UInt8], chance: (ClosedRange<Int>) -> Int) throws {
        // The received bytes may end in the middle of a frame, because the client has disconnected.
        try bytes.withUnsafeBytes { try receive($0) }
        for push in open where chance(0...1) == 0 { process(push) }
        open = []
    }
}
