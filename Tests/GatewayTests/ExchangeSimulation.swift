import APNs
import HTTP2
import PushModel
import RandomTesting

@testable import Gateway

/// Simulates a push exchange and a gateway session that pass bytes in memory. All random events come from one seed, and the
/// clock is simulated. Bytes arrive late and in random parts, streams are reset with any code, limits change, the gateway
/// shuts down or becomes silent, or the connection ends at any byte.
final class ExchangeSimulation {
    /// The kinds of faults that a run injects.
    struct Troubles: OptionSet {
        let rawValue: Int
        static let resets = Troubles(rawValue: 1)
        static let goAways = Troubles(rawValue: 2)
        static let limits = Troubles(rawValue: 4)
        static let silence = Troubles(rawValue: 8)
        static let ends = Troubles(rawValue: 16)
        static let all: Troubles = [.resets, .goAways, .limits, .silence, .ends]
    }

    typealias Serial = UInt32

    private static let timeout = Duration.seconds(20)
    var random: SplitMix
    let troubles: Troubles
    private let exchange: PushExchange<APNsService>
    private let mutant: ExchangeMutant?
    private var events: [ExchangeEvent] = []
    private let gateway: SimulatedPeer
    private var now = ContinuousClock.now
    private var nextPoll: ContinuousClock.Instant
    private var up: FrameCutter
    private var down: FrameCutter
    private var silentUntil: ContinuousClock.Instant
    private var isSilent: Bool { now < silentUntil }

    private let head = PushHead(PushOptions(), appTopic: "com.example.demo")
    private let job = PushID.Job(id: "job")
    private var made: Serial = 0
    private var waiting: [Serial: ContinuousClock.Instant] = [:]
    private(set) var outcomes: [Serial: SendOutcome] = [:]
    private var isOver = false
    private var hasEnded = false
    private var isRetired = false
    private var lastRoom = 0
    private var isRoomReported = true

    init(
        seed: UInt64, troubles: Troubles,
        mutant: ExchangeMutant? = nil
    ) {
        self.mutant = mutant
        random = SplitMix(seed: seed)
        self.troubles = troubles
        let limit = UInt32.random(in: 1...60, using: &random)
        gateway = SimulatedPeer(limit: limit)
        exchange = PushExchange<APNsService>(
            StreamSettings(
                authority: "localhost", providerToken: Array("token".utf8), generation: 1,
                requestTimeout: Self.timeout),
            at: now, random: SplitMix(seed: seed), fault: mutant?.fault)
        nextPoll = now + PushExchange<APNsService>.tickInterval
        silentUntil = now
        up = FrameCutter(preface: 24)
        down = FrameCutter(preface: 0)
    }

    func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    func chance(_ oneIn: Int) -> Bool { int(1...oneIn) == 1 }

    // MARK: Run

    func run(steps: Int = 250) throws {
        for _ in 0..<steps where !hasEnded { try step() }
        try endFaults()
    }

    private func step() throws {
        pass(chance(60) ? .milliseconds(int(1000...8000)) : .milliseconds(int(0...60)))
        switch int(0...99) {
        case 0..<25: try send(int(1...20))
        case 25..<45: try pumpUp()
        case 45..<65: try pumpDown()
        case 65..<85: if !isSilent { try gateway.act(chance: int) }
        default: try trouble()
        }
        try check()
    }

    private func pass(_ time: Duration) {
        now += time
        guard now >= nextPoll, !hasEnded else { return }
        nextPoll = now + PushExchange<APNsService>.tickInterval
        if mutant?.ignoresTime != true { exchange.poll(at: now) }
    }

    private func trouble() throws {
        switch int(0...11) {
        case 0...3 where troubles.contains(.resets) && !isSilent: gateway.reset(chance: int)
        case 4 where troubles.contains(.goAways) && chance(6): gateway.goAway(chance: int)
        case 5...6 where troubles.contains(.limits):
            gateway.session.setMaxConcurrentStreams(UInt32(chance(8) ? 0 : int(1...60)))
        case 7 where troubles.contains(.silence) && chance(3):
            silentUntil = now + .milliseconds(int(500...45_000))
        case 8 where troubles.contains(.ends) && chance(8): try cut()
        case 9 where chance(30): exchange.renew(Array("other".utf8), generation: 2)
        case 10 where chance(60) && troubles.contains(.ends):
            isRetired = true
            exchange.retire()
        default: break
        }
    }

    // MARK: Pushes

    private func send(_ count: Int) throws {
        for _ in 0..<count where !hasEnded && exchange.room > 0 {
            if !exchange.streams.isProven, exchange.streams.open > 0 {
                throw BrokenInvariant(description: "a second push before the first has proved the token")
            }
            let serial = made
            let token = [UInt8](repeating: 7, count: 28) + withUnsafeBytes(of: serial.bigEndian) { Array($0) }
            let isTaken = token.withUnsafeBytes { token in
                Array("{}".utf8).withUnsafeBytes { payload in
                    exchange.send(
                        head, token: token, id: job.pushID(token: token), payload: payload,
                        ticket: PushTicket(batch: 1, position: serial), at: now)
                }
            }
            guard isTaken else {
                throw BrokenInvariant(description: "room for \(exchange.room), and a push is not taken")
            }
            made += 1
            waiting[serial] = now
            guard exchange.streams.open <= exchange.streams.budget.limit else {
                throw BrokenInvariant(
                    description: "\(exchange.streams.open) streams of \(exchange.streams.budget.limit)")
            }
        }
    }

    // MARK: Bytes

    private func withRoom<Value>(_ body: (UnsafeMutableRawBufferPointer) throws -> Value) rethrows -> Value {
        let room = UnsafeMutableRawBufferPointer.allocate(
            byteCount: chance(2) ? int(1...100) : 16_384, alignment: 1)
        defer { room.deallocate() }
        return try body(room)
    }

    private func pumpUp() throws {
        guard !isSilent else { return }
        withRoom { room in
            up.append(UnsafeRawBufferPointer(rebasing: room[..<exchange.fill(room)]), chance: int)
        }
        exchange.didFill()
        try drain()
        let bytes = up.take(chance(3) ? int(0...80) : .max)
        try bytes.withUnsafeBytes { try gateway.receive($0) }
    }

    private func pumpDown() throws {
        guard !isSilent else { return }
        try withRoom { room in
            down.append(
                UnsafeRawBufferPointer(rebasing: room[..<(try gateway.session.fill(room))]), chance: int)
        }
        try gateway.drain()
        let bytes = down.take(chance(3) ? int(0...80) : .max)
        guard !bytes.isEmpty, !hasEnded else { return }
        bytes.withUnsafeBytes { exchange.receive($0, at: now) }
        try drain()
    }

    /// Ends the connection after some of the bytes in flight have arrived.
    private func cut() throws {
        if chance(2) { try pumpUp() }
        let bytes = down.take(int(0...2000))
        if !bytes.isEmpty { bytes.withUnsafeBytes { exchange.receive($0, at: now) } }
        try drain()
        try end("cut")
        try gateway.finish(up.take(int(0...2000)), chance: int)
    }

    private func end(_ reason: String) throws {
        exchange.end(reason)
        try drain()
    }

    // MARK: Events of the exchange

    private func nextEvent() -> ExchangeEvent? {
        while events.isEmpty, let event = exchange.nextEvent() { events = mutant?.change(event) ?? [event] }
        return events.isEmpty ? nil : events.removeFirst()
    }

    private func drain() throws {
        while let event = nextEvent() {
            guard !hasEnded else { throw BrokenInvariant(description: "\(event) after the end") }
            switch event {
            case .completed(let ticket, let outcome):
                isRoomReported = true
                try completed(ticket.position, outcome)
            case .roomAvailable: isRoomReported = true
            case .retired: break
            case .deliveredPushesLost(let count, _): throw BrokenInvariant(description: "\(count) are lost")
            case .isOver(let reason):
                guard !isOver else { throw BrokenInvariant(description: "it is over twice") }
                isOver = true
                try withRoom { room in
                    var count = exchange.fill(room)
                    while count > 0 {
                        up.append(UnsafeRawBufferPointer(rebasing: room[..<count]), chance: int)
                        count = exchange.fill(room)
                    }
                    try gateway.finish(up.take(int(0...4000)), chance: int)
                }
                exchange.end(reason)
            case .ended: hasEnded = true
            }
        }
    }

    private func completed(_ serial: Serial, _ outcome: SendOutcome) throws {
        guard waiting.removeValue(forKey: serial) != nil else {
            throw BrokenInvariant(
                description: "push \(serial) is completed twice: \(outcomes[serial] as Any), \(outcome)")
        }
        outcomes[serial] = outcome
        switch outcome {
        case .delivered where gateway.statuses[serial] != 200:
            throw BrokenInvariant(description: "push \(serial) was never accepted")
        case .rejected(let refusal) where gateway.statuses[serial] != Int(refusal.status):
            throw BrokenInvariant(
                description:
                    "push \(serial) is reported as refused with a status that the gateway never sent: \(refusal.status)"
            )
        case .unprocessed:
            if gateway.processed.contains(serial) {
                throw BrokenInvariant(
                    description: "push \(serial) was processed, and is reported as unprocessed")
            }
            gateway.free.insert(serial)
        case .unknown(let cause):
            // Streams of a client have odd numbers: the first push has stream 1, the second push stream 3.
            if cause.hasPrefix("no response"), !up.hasSeenHeaders(of: 2 * serial + 1) {
                throw BrokenInvariant(
                    description: "push \(serial) was never sent, and is reported as unknown")
            }
            if gateway.refused.contains(serial), cause.hasPrefix("stream reset") {
                throw BrokenInvariant(
                    description: "push \(serial) was refused unprocessed, and is reported as unknown")
            }
        case .delivered, .rejected: break
        }
    }

    // MARK: Checks

    private func check() throws {
        try drain()
        let room = hasEnded ? 0 : exchange.room
        if room > 0, lastRoom == 0, !isRoomReported {
            throw BrokenInvariant(description: "no event reported the room for \(room)")
        }
        (lastRoom, isRoomReported) = (room, false)
        if let late = waiting.min(by: { $0.value < $1.value }),
            now > late.value + Self.timeout + PushExchange<APNsService>.tickInterval + .seconds(8)
        {
            throw BrokenInvariant(description: "push \(late.key) waits since \(late.value.duration(to: now))")
        }
        guard exchange.streams.open <= 60, exchange.open.waiting == waiting.count || hasEnded else {
            throw BrokenInvariant(description: "\(exchange.open.waiting) are awaited, \(waiting.count) wait")
        }
        if let twice = gateway.fault { throw BrokenInvariant(description: twice) }
    }

    /// Ends the faults, and checks that every push gets an outcome and that new pushes are delivered.
    private func endFaults() throws {
        silentUntil = now
        if !hasEnded, !isRetired, !gateway.hasSaidGoodbye { gateway.session.setMaxConcurrentStreams(50) }
        let deadline = now + .seconds(60)
        var flowing: Serial?
        while !hasEnded, now < deadline {
            pass(.milliseconds(int(20...200)))
            try pumpUp()
            for _ in 0..<5 { try gateway.act(chance: int) }
            try pumpDown()
            try check()
            guard waiting.isEmpty else { continue }
            if exchange.isRetired { continue }
            if flowing == nil {
                flowing = made + 100
            } else if let flowing, made >= flowing {
                exchange.retire()
                try check()
            }
            try send(20)
        }
        guard hasEnded else {
            throw BrokenInvariant(
                description:
                    "it hangs: \(waiting.count) wait, \(exchange.streams.open) streams of \(exchange.streams.budget.limit)"
                    + (exchange.isRetired ? ", spent" : ""))
        }
        guard waiting.isEmpty else {
            throw BrokenInvariant(description: "\(waiting.keys.sorted()) were never settled")
        }
        if let flowing, made < flowing, !gateway.hasSaidGoodbye,
            troubles.isDisjoint(with: [.limits, .silence, .ends])
        {
            throw BrokenInvariant(description: "it ended before it flowed")
        }
        if let twice = gateway.fault { throw BrokenInvariant(description: twice) }
    }
}
