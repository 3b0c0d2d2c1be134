import APNs
import BinaryProtocol
import PushModel
import RandomTesting
import Transport

@testable import Gateway

/// Simulates pushes over several binary connections to gateways in memory. All random events come from one seed, and the
/// clock is simulated. Bytes arrive late and in random parts, tokens are bad, and gateways shut down, close without a reply,
/// or read slowly. Unprocessed pushes and pushes with an unknown outcome are sent again, until every push has its outcome.
final class BinarySimulation {
    struct Troubles: OptionSet {
        let rawValue: Int
        /// One token in ten is bad, and about one push in a hundred fails with a processing error.
        static let badTokens = Troubles(rawValue: 1)
        static let shutdowns = Troubles(rawValue: 2)
        static let closes = Troubles(rawValue: 4)
        /// The gateway's operating system accepts bytes only from time to time.
        static let slowness = Troubles(rawValue: 8)
        /// The worker's process stalls for seconds, while replies wait in the socket.
        static let pauses = Troubles(rawValue: 16)
        static let retirement = Troubles(rawValue: 32)
        /// The gateway's program reads few of the bytes that its operating system has received.
        static let laziness = Troubles(rawValue: 64)
        /// Each connection closes without a reply after the gateway has accepted a hundred pushes.
        static let earlyCloses = Troubles(rawValue: 128)
        /// The gateway's program stalls for seconds and neither reads nor replies.
        static let starvation = Troubles(rawValue: 256)
        /// Replaces the generic method of `OptionSet`, which is too slow: every step of the simulation calls this method.
        func contains(_ other: Troubles) -> Bool { rawValue & other.rawValue == other.rawValue }

        static let all: Troubles = [
            .badTokens, .shutdowns, .closes, .slowness, .pauses, .retirement, .laziness, .starvation,
        ]
    }

    /// When a gateway's TLS layer replies to key updates.
    private enum ResponseTime: CaseIterable {
        case never, whenRead
        /// The gateway replies to a key update request when it reads the next key update request.
        case oneLater
    }

    private final class Link {
        let exchange: BinaryExchange
        let peer: BinaryPeer
        /// The sent bytes by place. `queued`: in the worker's buffers. `flying`: in the socket. `unread`: received by the
        /// gateway's system, but not read by its program.
        var queued: [UInt8] = []
        var flying: [UInt8] = []
        var unread: [UInt8] = []
        var reply: [UInt8] = []
        var sent: [UInt32: Bool] = [:]
        /// Positions in the sent bytes. `handed`: the end of the bytes that the exchange has written. `read`: the end of the
        /// bytes that the gateway has read. `questions`: each key update request.
        var handed = 0
        var read = 0
        var questions: [Int] = []
        var responses = 0
        var standsStillUntil: ContinuousClock.Instant?

        init(_ exchange: BinaryExchange, _ peer: BinaryPeer) {
            (self.exchange, self.peer) = (exchange, peer)
        }
    }

    private var random: SplitMix
    private let troubles: Troubles
    private let settings: BinarySettings
    private let responses: ResponseTime
    private let profile: BinaryGatewayProfile
    private let mutant: BinaryMutant?
    private let count: UInt32
    private var now = ContinuousClock.now
    private var links: [Link] = []
    private var waiting: [UInt32]
    private var outcomes: [UInt32: Bool] = [:]
    private var accepted: [UInt32: Int] = [:]
    private var doubted: [UInt32: Int] = [:]
    private(set) var doubled = 0

    init(
        seed: UInt64, troubles: Troubles, settings: BinarySettings = BinarySettings(),
        mutant: BinaryMutant? = nil
    ) {
        random = SplitMix(seed: seed)
        (self.troubles, self.settings, self.mutant) = (troubles, settings, mutant)
        profile = BinaryGatewayProfile(settings)
        responses = ResponseTime.allCases.randomElement(using: &random) ?? .never
        count = UInt32.random(in: 1...900, using: &random)
        waiting = Array(0..<count)
    }

    private func int(_ range: ClosedRange<Int>) -> Int { random.int(in: range) }
    private func chance(_ oneIn: Int) -> Bool { int(1...oneIn) == 1 }

    private func kind(_ serial: UInt32) -> BinaryPeer.Kind {
        guard troubles.contains(.badTokens) else { return .good }
        return serial % 10 == 3 ? .bad : serial % 97 == 5 ? .failing : .good
    }

    // MARK: Run

    func run() throws {
        var steps = 0
        while outcomes.count < Int(count) || !links.isEmpty {
            steps += 1
            guard steps < 60_000 else {
                throw BrokenInvariant(description: "\(count - UInt32(outcomes.count)) pushes never end")
            }
            try step(isCalm: steps > 20_000)
        }
        for serial in 0..<count { try judge(serial) }
    }

    private func step(isCalm: Bool) throws {
        let isPause = !isCalm && troubles.contains(.pauses) && chance(400)
        now += isPause ? .milliseconds(int(500...4000)) : .milliseconds(int(0...12))
        if links.count < 6, !waiting.isEmpty, chance(3) { open() }
        for link in links {
            move(link, isCalm: isCalm)
            // While the worker's process stalls, only the network and the gateway move bytes.
            guard !isPause else { continue }
            try receive(link)
            guard !link.exchange.hasEnded else { continue }
            if chance(2) { try send(link) }
            fill(link)
            if chance(5) { try poll(link) }
            if !isCalm { trouble(link) }
            if troubles.contains(.earlyCloses), link.peer.accepted.count >= 100 { link.peer.close(at: now) }
            try drain(link)
        }
        links.removeAll { $0.exchange.hasEnded }
        for link in links where waiting.isEmpty && link.exchange.openPushes == 0 {
            link.exchange.retire(at: now)
            try drain(link)
        }
        links.removeAll { $0.exchange.hasEnded }
    }

    private func open() {
        let exchange = BinaryExchange(
            settings, profile: profile, generation: 1, timeout: .seconds(20), at: now,
            firstIdentifier: chance(3) ? .max - UInt32(int(0...50)) : 1)
        let peer = BinaryPeer(
            kind: { [unowned self] in kind($0) },
            delay: { [unowned self] in
                .milliseconds(int(300...700))
            })
        links.append(Link(exchange, peer))
    }

    private func trouble(_ link: Link) {
        if troubles.contains(.shutdowns), chance(300) { link.peer.shutDown(at: now) }
        if troubles.contains(.closes), chance(300) { link.peer.close(at: now) }
        if troubles.contains(.retirement), chance(300) { link.exchange.retire(at: now) }
        // The exchange notices a stalled gateway by missing replies to key updates. So only a gateway that usually replies to
        // key updates may stall.
        if troubles.contains(.starvation), chance(300), settings.asksIfRead, responses != .never,
            link.standsStillUntil == nil
        {
            link.standsStillUntil = now + .milliseconds(int(500...6000))
        }
    }

    // MARK: Bytes

    private func send(_ link: Link) throws {
        for _ in 0..<int(1...60) {
            guard let serial = waiting.first, link.exchange.room > 0 else { return }
            waiting.removeFirst()
            let token = [UInt8](repeating: 7, count: 28) + withUnsafeBytes(of: serial.bigEndian) { Array($0) }
            let isRetry = doubted[serial] != nil
            let isTaken = token.withUnsafeBytes { token in
                Array("{}".utf8).withUnsafeBytes { payload in
                    link.exchange.send(
                        PushOptions(), isRetry: isRetry, token: token, payload: payload,
                        ticket: PushTicket(batch: 1, position: serial), at: now)
                }
            }
            guard isTaken else {
                guard isRetry, settings.command == .simple else {
                    throw BrokenInvariant(description: "room, and a push is not taken")
                }
                // With command 0, a push with an unknown outcome is sent again only over a connection without other pushes in
                // flight.
                return waiting.insert(serial, at: 0)
            }
            link.sent[serial] = true
        }
    }

    /// Writes to the socket, as at the end of a turn of the event loop. The socket may accept only a part of the bytes.
    private func fill(_ link: Link) {
        if link.queued.isEmpty {
            link.exchange.bytesSent(allBut: 0, at: now)
            while link.exchange.shouldAsk(at: now) {
                link.questions.append(link.handed)
                link.exchange.asked(at: now)
            }
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: int(1...4000), alignment: 1)
            defer { room.deallocate() }
            link.queued += room[..<link.exchange.fill(room)]
            link.handed += link.queued.count
        }
        let count = chance(4) ? int(0...200) : link.queued.count
        Self.move(count, from: &link.queued, to: &link.flying)
    }

    /// Moves at most `count` bytes.
    private static func move(_ count: Int, from source: inout [UInt8], to target: inout [UInt8]) {
        guard count > 0, !source.isEmpty else { return }
        guard count < source.count || !target.isEmpty else { return swap(&source, &target) }
        target += source.prefix(count)
        source.removeFirst(min(count, source.count))
    }

    /// Moves bytes through the network and the gateway.
    private func move(_ link: Link, isCalm: Bool) {
        if isCalm || !troubles.contains(.slowness) || chance(30) {
            let count = chance(3) ? int(0...300) : link.flying.count
            Self.move(count, from: &link.flying, to: &link.unread)
        }
        if let until = link.standsStillUntil {
            if until > now { return }
            link.standsStillUntil = nil
            // After a stall, the gateway may read received bytes before it sends a reply that is due.
            if chance(2), let reply = link.peer.takeReply(at: now) { link.reply += reply.bytes }
        } else if let reply = link.peer.takeReply(at: now) {
            link.reply += reply.bytes
        }
        let isLazy = !isCalm && troubles.contains(.laziness)
        let count = isLazy ? (chance(20) ? int(0...2000) : 0) : link.unread.count
        var part: [UInt8] = []
        Self.move(count, from: &link.unread, to: &part)
        link.peer.read(part, at: now)
        link.read += part.count
        // A gateway that has closed the connection does not reply to key updates.
        guard link.peer.plannedClose.map({ $0.closesAt > now }) ?? true else { return }
        let questionsRead = link.questions.count { $0 <= link.read }
        switch responses {
        case .never: break
        case .whenRead: link.responses = questionsRead
        case .oneLater: link.responses = max(0, questionsRead - 1)
        }
    }

    private func receive(_ link: Link) throws {
        if !link.reply.isEmpty {
            let part = chance(3) ? Array(link.reply.prefix(int(1...5))) : link.reply
            link.reply.removeFirst(part.count)
            link.exchange.bytesSent(allBut: link.queued.count, at: now)
            if mutant != .ignoresReplies { part.withUnsafeBytes { link.exchange.receive($0, at: now) } }
            try drain(link)
        }
        if let plannedClose = link.peer.plannedClose, plannedClose.closesAt <= now, plannedClose.reply == nil,
            link.reply.isEmpty,
            !link.exchange.hasEnded
        {
            link.exchange.bytesSent(allBut: link.queued.count, at: now)
            link.exchange.end("closed", isPeersDoing: true, at: now)
            try drain(link)
        }
    }

    private func poll(_ link: Link) throws {
        // The exchange reads all received bytes before it checks the clock.
        repeat { try receive(link) } while !link.reply.isEmpty && !link.exchange.hasEnded
        guard !link.exchange.hasEnded else { return }
        link.exchange.bytesSent(allBut: link.queued.count, at: now)
        BinaryMutant.poll(
            link.exchange, mutant, unread: link.flying.count + link.unread.count, responses: link.responses,
            questions: link.questions.count, at: now)
        try drain(link)
    }

    // MARK: Events of the exchange

    private func drain(_ link: Link) throws {
        while let event = link.exchange.nextEvent() {
            for event in mutant?.change(event) ?? [event] { try handle(event, of: link) }
        }
    }

    private func handle(_ event: ExchangeEvent, of link: Link) throws {
        switch event {
        case .completed(let ticket, let outcome): try completed(ticket.position, outcome, of: link)
        case .isOver:
            link.exchange.bytesSent(allBut: link.queued.count, at: now)
            link.exchange.end("over", isPeersDoing: false, at: now)
        case .deliveredPushesLost(let count, let reason):
            throw BrokenInvariant(description: "\(count) lost: \(reason)")
        case .roomAvailable, .retired, .ended: break
        }
    }

    private func completed(_ serial: UInt32, _ outcome: SendOutcome, of link: Link) throws {
        guard link.sent.removeValue(forKey: serial) != nil else {
            throw BrokenInvariant(description: "push \(serial) is completed twice")
        }
        let wasAccepted = link.peer.accepted.contains(serial)
        switch outcome {
        case .delivered:
            guard wasAccepted else { throw BrokenInvariant(description: "push \(serial) is lost") }
            outcomes[serial] = true
        case .rejected(let refusal):
            guard link.peer.refused.contains(serial) else {
                throw BrokenInvariant(description: "push \(serial) was not refused: \(refusal.verdict)")
            }
            outcomes[serial] = false
        case .unprocessed:
            guard !wasAccepted else {
                throw BrokenInvariant(description: "push \(serial) was accepted, and is sent again")
            }
            waiting.append(serial)
        case .unknown:
            doubted[serial, default: 0] += 1
            waiting.append(serial)
        }
        if wasAccepted { accepted[serial, default: 0] += 1 }
    }

    private func judge(_ serial: UInt32) throws {
        let times = accepted[serial, default: 0]
        doubled += max(0, times - 1)
        guard times <= 1 + doubted[serial, default: 0] else {
            throw BrokenInvariant(
                description: "push \(serial) was accepted \(times) times, unknown \(doubted[serial] ?? 0)")
        }
        guard outcomes[serial] == (kind(serial) == .good) else {
            throw BrokenInvariant(
                description:
                    "push \(serial), \(kind(serial)), came to \(String(describing: outcomes[serial]))")
        }
    }
}
