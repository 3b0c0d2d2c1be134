import RandomTesting

@testable import FarmPolicy

/// An app's pushes on their way to a gateway, in steps of simulated time: what the shell does around a ``Governor``, and a gateway
/// with latency, a limit of streams, one of its own service rate, a rate above which it says 429, and phases of 503.
struct ModelGateway {
    static let step = Duration.milliseconds(10)
    private static let stepSeconds = 0.01

    // The gateway.
    var latency = 5
    var streams = 1000
    /// Pushes a second that all of its connections together can work on; the others queue.
    var service = Double.infinity
    /// Pushes a second, beyond which it answers 429.
    var takes = Double.infinity
    /// The share of answers that are 503, whatever the rate.
    var failing = 0.0
    var dialSteps = 3
    /// Connections that it lets one client have.
    var most = Int.max

    // Our side.
    /// Pushes a second that arrive; all wait that are not sent.
    var arrival = Double.infinity
    /// Pushes a second that we can send and settle: our own processor's limit.
    var ours = Double.infinity
    /// Stops sending, but for probes, when all answers are trouble; connections are then made again.
    var breaker: ServerBreaker?
    /// The same because of Redis: without credit there is no work in hand.
    var credit = Double.infinity

    let settings: GovernorSettings
    var governor: Governor
    private var meter: LoadMeter
    private(set) var now = ContinuousClock.now
    private let start: ContinuousClock.Instant
    private var random: SplitMix
    private var bucket: TokenBucket?
    private(set) var connections = 0
    private var dials: [Int] = []
    private var open = 0
    private var backlog = 0.0
    /// Answers by the step in which they come.
    private var due: [Int: Int] = [:]
    private var queued = 0.0
    private var tick = 0
    private var nextCheck: ContinuousClock.Instant
    private var taken = 0.0
    private var allowance = 0.0
    private var answers = 0
    private var troubles = 0
    private var wasLowered = false
    private var lastStreams = 1000
    private(set) var isBusy = false

    // What came of it.
    private(set) var accepted = 0
    private(set) var refused = 0
    private(set) var changes: [(at: Duration, change: Governor.Change)] = []

    init(_ settings: GovernorSettings = GovernorSettings(), seed: UInt64 = 1) {
        self.settings = settings
        governor = Governor(settings)
        random = SplitMix(seed: seed)
        meter = LoadMeter(at: now)
        start = now
        nextCheck = now + settings.pollInterval
    }

    var elapsed: Duration { now - start }

    /// Steps of connections since a time.
    func scalings(since: Duration = .zero) -> [ConnectionScale.Step] {
        changes.compactMap { change in
            if change.at >= since, case .connections(let step) = change.change { step } else { nil }
        }
    }

    mutating func run(_ seconds: Double) {
        let end = now + .seconds(seconds)
        while now < end { advance() }
    }

    /// The same, with a look at it after every step.
    mutating func run(_ seconds: Double, each: (inout ModelGateway) throws -> Void) rethrows {
        let end = now + .seconds(seconds)
        while now < end {
            advance()
            try each(&self)
        }
    }

    /// Pushes that the gateway accepted a second, over so many seconds from now.
    mutating func goodput(over seconds: Double) -> Double {
        let before = accepted
        run(seconds)
        return Double(accepted - before) / seconds
    }

    private mutating func advance() {
        tick += 1
        now += Self.step
        if streams < lastStreams { wasLowered = true }
        lastStreams = streams
        if !dials.isEmpty {
            dials = dials.map { $0 - 1 }
            connections += dials.count { $0 <= 0 }
            dials.removeAll { $0 <= 0 }
        }
        connections = min(connections, most)
        answer()
        backlog = arrival.isFinite ? backlog + arrival * Self.stepSeconds : .infinity
        send()
        if now >= nextCheck { check() }
    }

    private mutating func answer() {
        // What the gateway has worked off comes back when its time has come.
        var back = due.removeValue(forKey: tick) ?? 0
        if service.isFinite {
            queued += Double(back)
            let worked = min(queued.rounded(.down), service * Self.stepSeconds)
            queued -= worked
            back = Int(worked)
        }
        open -= back
        allowance = min(allowance + takes * Self.stepSeconds, max(1, takes * 0.2))
        var good = back
        if takes.isFinite {
            good = min(good, Int(allowance))
            allowance -= Double(good)
        }
        if failing > 0 {
            // Rounded at random, so that small shares of small numbers happen too.
            let failed = Double(good) * failing + Double(random.next() % 1000) / 1000
            good -= min(good, Int(failed))
        }
        stopOrGoOn(good: good, bad: back - good)
        accepted += good
        answers += good
        refused += back - good
        troubles += back - good
    }

    private mutating func stopOrGoOn(good: Int, bad: Int) {
        if good > 0 { breaker?.answered() }
        for _ in 0..<bad { breaker?.troubled(at: now, using: &random) }
        if bad > 0, breaker?.isClosed == false { connections = 0 }
    }

    private mutating func send() {
        let work = min(backlog, credit * Self.stepSeconds)
        if work >= 1 || open > 0, connections + dials.count < governor.connections {
            dials.append(dialSteps)
        }
        let room = max(0, connections * streams - open)
        let processor = ours * Self.stepSeconds
        var count = min(work, Double(room), processor)
        var isLimited = false
        if let rate = governor.rate {
            if bucket == nil { bucket = TokenBucket(rate: rate, at: now) }
            bucket?.change(rate: rate, at: now)
            let allowed = Double(bucket?.available(at: now) ?? 0)
            isLimited = allowed < count
            count = min(count, allowed)
        } else {
            bucket = nil
        }
        switch breaker?.permit(at: now) {
        case .all, nil: break
        case .probe where count >= 1:
            count = 1
            breaker?.probeSent()
        case .probe, .nothing: count = 0
        }
        let sent = Int(count.rounded(.down))
        bucket?.take(sent)
        // What we ourselves are too slow for fills our streams too: their answers wait unread.
        isBusy = ours.isFinite && processor <= min(work, Double(max(room, sent))) + 0.5
        backlog -= Double(sent)
        open += sent
        due[tick + max(1, latency), default: 0] += sent
        let waits = isLimited || work - Double(sent) >= 1
        meter.note(isLimited ? .limited : waits && connections > 0 ? .blocked : .flowing, open: open, at: now)
    }

    private mutating func check() {
        nextCheck = now + settings.pollInterval
        var sample = meter.take(at: now)
        (sample.connections, sample.streams) = (connections, connections * streams)
        (sample.answers, sample.troubles) = (answers, troubles)
        sample.isStopped = breaker?.isClosed == false
        (sample.isBusy, sample.wasLowered) = (isBusy, wasLowered)
        (answers, troubles, wasLowered) = (0, 0, false)
        for change in governor.decide(sample, at: now) { changes.append((elapsed, change)) }
        connections = min(connections, max(governor.connections, 0))
        dials = Array(dials.prefix(max(0, governor.connections - connections)))
    }
}
