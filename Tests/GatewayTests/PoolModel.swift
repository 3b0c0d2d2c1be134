import APNs
import BinaryProtocol
import FarmPolicy
import RandomTesting

@testable import Gateway

/// Simulates one worker's connections to a binary gateway in virtual time, with random events from one seed.
/// The pool's real code makes the decisions. The model measures how long the worker needs to send a list with bad tokens.
struct PoolModel {
    typealias Instant = ContinuousClock.Instant

    struct Setting: Sendable {
        /// The number of pushes. On average, one of `badEvery` pushes has a bad token.
        var pushes = 50_000
        var badEvery = 100
        /// The time from the send of a bad push to the gateway's reply, in milliseconds.
        var reply: ClosedRange<Int> = 300...700
        /// The duration of a dial in milliseconds.
        var dial = 3
        var connections = 28
        var dialsPerMinute = 1_500
    }

    private struct Connection {
        var number: Int
        var pushes: [Bool] = []
        /// The time of the reply to the first bad push.
        var endsAt: Instant?
        var accepted = 0
        var fullSince: Instant?
        /// The time of the last send on the connection.
        var sentAt: Instant
    }

    private let setting: Setting
    private var random: SplitMix
    private var profile = BinaryGatewayProfile(BinarySettings())
    private var rate: DialRate
    private let start = ContinuousClock.now
    private var now: Instant
    /// For each push that is not sent yet or came back unprocessed: whether its token is bad.
    private var backlog: [Bool]
    private var connections: [Connection] = []
    private var dialsDone: [Instant] = []
    private var dialPause: Instant?
    private var fastestDial: Duration?

    private(set) var dials = 0
    private(set) var mostOpen = 0
    private(set) var mostDialling = 0
    private(set) var surplus = 0
    private(set) var refused = 0
    private(set) var delivered = 0
    var seconds: Double { (now - start) / .seconds(1) }

    init(_ setting: Setting, seed: UInt64) {
        self.setting = setting
        random = SplitMix(seed: seed)
        now = start
        rate = DialRate(
            connections: setting.connections, life: .milliseconds(100), perMinute: setting.dialsPerMinute)
        backlog = []
        for _ in 0..<setting.pushes { backlog.append(random.int(in: 1...setting.badEvery) == 1) }
    }

    /// Runs until every push has its outcome, at most for an hour.
    mutating func run() {
        while !backlog.isEmpty || connections.contains(where: { !$0.pushes.isEmpty }), seconds < 3_600 {
            while turn() {}
            guard let next = nextEvent else { return }
            now = max(now, next)
            runNextEvent()
        }
    }

    // MARK: A turn of sending

    /// - Returns: whether a dial has started. If so, the worker may check out more pushes.
    private mutating func turn() -> Bool {
        var left = inHand
        profile.waiting = (left, setting.connections)
        while left > 0, let index = roomiest {
            let connection = connections[index]
            let (room, part) = (profile.windowLimit.window - connection.pushes.count, profile.part)
            let chunk = connection.pushes.count >= part ? room : min(room, part - connection.pushes.count)
            let count = min(chunk, left)
            put(count, on: index)
            left -= count
        }
        guard left > 0 || demand.returning > 0, dialPause.map({ $0 <= now }) ?? true else { return false }
        var hasBegun = false
        for _ in 0..<demand.dials(for: left) {
            let wait = rate.take(at: now)
            guard wait == .zero else {
                dialPause = now + wait
                break
            }
            dials += 1
            dialsDone.append(now + .milliseconds(setting.dial))
            mostDialling = max(mostDialling, dialsDone.count)
            hasBegun = true
        }
        return hasBegun
    }

    /// The number of unsent pushes that the worker holds.
    private var inHand: Int {
        let room = connections.reduce(0) { $0 + max(0, profile.windowLimit.window - $1.pushes.count) }
        return min(backlog.count, room + demand.headroom)
    }

    /// The connection with the most room; nil if no connection has room. If there are at least two connections, the first
    /// connection is reserved for `high` pushes.
    private var roomiest: Int? {
        let able = connections.indices.dropFirst(connections.count > 1 ? 1 : 0)
        let best = able.min { connections[$0].pushes.count < connections[$1].pushes.count }
        return best.flatMap { connections[$0].pushes.count < profile.windowLimit.window ? $0 : nil }
    }

    private mutating func put(_ count: Int, on index: Int) {
        for isBad in backlog.suffix(count) {
            connections[index].pushes.append(isBad)
            if isBad, connections[index].endsAt == nil {
                connections[index].endsAt = now + .milliseconds(random.int(in: setting.reply))
            }
        }
        backlog.removeLast(count)
        connections[index].sentAt = now
        if connections[index].pushes.count >= profile.windowLimit.window {
            connections[index].fullSince = now
        }
    }

    private var demand: ConnectionDemand {
        var demand = ConnectionDemand(
            most: setting.connections, live: connections.count, dialling: dialsDone.count,
            share: profile.windowLimit.share, part: profile.part)
        let returning = connections.reduce(0) { $0 + profile.windowLimit.returning(of: $1.pushes.count) }
        demand.returning = max(0, returning)
        guard let fastestDial, profile.windowLimit.isRefusing, let usual = profile.quiet.usualReply
        else {
            return demand
        }
        demand.ending = connections.count {
            $0.pushes.count >= profile.windowLimit.window
                && $0.fullSince.map { $0 + usual > now && $0 + usual <= now + fastestDial } ?? false
        }
        return demand
    }

    // MARK: What happens

    private var nextEvent: Instant? {
        let quiets = connections.filter { !$0.pushes.isEmpty && $0.endsAt == nil }.map { proven($0) }
        let pause = dialPause.flatMap { $0 > now && !backlog.isEmpty ? $0 : nil }
        return (dialsDone + connections.compactMap(\.endsAt) + quiets + [pause].compactMap { $0 }).min()
    }

    private func proven(_ connection: Connection) -> Instant {
        connection.sentAt + profile.quiet.current + .milliseconds(100)
    }

    private mutating func runNextEvent() {
        for (index, connection) in connections.enumerated().reversed() {
            if let end = connection.endsAt, end <= now {
                refuse(connection)
                connections.remove(at: index)
            } else if connection.endsAt == nil, !connection.pushes.isEmpty, proven(connection) <= now {
                accept(connection.pushes.count, index)
                connections[index].pushes = []
            }
        }
        for done in dialsDone where done <= now {
            fastestDial = .milliseconds(setting.dial)
            guard connections.count < setting.connections else {
                surplus += 1
                continue
            }
            connections.append(Connection(number: dials, sentAt: now))
        }
        dialsDone.removeAll { $0 <= now }
        mostOpen = max(mostOpen, connections.count)
    }

    private mutating func accept(_ count: Int, _ index: Int) {
        connections[index].accepted += count
        delivered += count
        profile.windowLimit.accepted(count)
    }

    private mutating func refuse(_ connection: Connection) {
        guard let culprit = connection.pushes.firstIndex(of: true) else { return }
        delivered += culprit
        refused += 1
        if culprit > 0 { profile.windowLimit.accepted(culprit) }
        profile.windowLimit.refused(after: connection.accepted + culprit)
        // The profile adapts its quiet time to the measured delay of the reply.
        profile.quiet.replied(after: .milliseconds(random.int(in: setting.reply)))
        backlog += connection.pushes[(culprit + 1)...]
    }
}
