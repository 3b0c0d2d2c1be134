import RandomTesting

@testable import FarmPolicy

/// A simulation of an app's pushes to a gateway, in steps of simulated time. The model replaces the gateway and the code that
/// calls a ``Governor``. The gateway has latency, a stream limit, its own service rate, a rate above which it responds 429, and
/// phases of 503.
struct ModelGateway {
    static let step = Duration.milliseconds(10)
    private static let stepSeconds = 0.01

    // Settings of the gateway.
    var latency = 5
    var streams = 1000
    /// The pushes per second that the gateway can process over all connections together. Further pushes queue.
    var service = Double.infinity
    /// The pushes per second above which the gateway responds 429.
    var takes = Double.infinity
    /// The share of responses with status 503. This share does not depend on the rate.
    var failing = 0.0
    var dialSteps = 3
    /// The maximum of connections that the gateway accepts from one client.
    var most = Int.max

    // Settings of the farm.
    /// The pushes per second that arrive. Pushes that are not sent stay in the backlog.
    var arrival = Double.infinity
    /// The pushes per second that the farm's processor can send and settle.
    var ours = Double.infinity
    /// After several 503 or 429 responses in a row, the breaker allows no pushes except probes, and the model closes the
    /// connections and opens new ones.
    var breaker: GatewayCircuitBreaker?
    /// The pushes per second that the send credit from Redis allows. Without credit the worker has no work.
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
    /// The number of responses that arrive in each step.
    private var due: [Int: Int] = [:]
    private var queued = 0.0
    private var tick = 0
    private var nextCheck: ContinuousClock.Instant
    private var taken = 0.0
    private var allowance = 0.0
    private var responses = 0
    private var troubles = 0
    private var wasLowered = false
    private var lastStreams = 1000
    /// The load of the farm's processor at the last check, 0...1.
    private(set) var load = 0.0
    private var sentSinceCheck = 0

    // Results of the run.
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

    /// The steps of the connection scale since a time.
    func scalings(since: Duration = .zero) -> [ConnectionScale.Step] {
        changes.compactMap { change in
            if change.at >= since, case .connections(let step) = change.change { step } else { nil }
        }
    }

    mutating func run(_ seconds: Double) {
        let end = now + .seconds(seconds)
        while now < end { advance() }
    }

    /// Runs the model and calls `each` after every step.
    mutating func run(_ seconds: Double, each: (inout ModelGateway) throws -> Void) rethrows {
        let end = now + .seconds(seconds)
        while now < end {
            advance()
            try each(&self)
        }
    }

    /// The pushes per second that the gateway accepts during the next `seconds`.
    mutating func goodput(over seconds: Double) -> Double {
        let before = accepted
        run(seconds)
        return Double(accepted - before) / seconds
    }

    /// Discards the pushes that are not sent.
    mutating func drain() { backlog = 0 }

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
        respond()
        backlog = arrival.isFinite ? backlog + arrival * Self.stepSeconds : .infinity
        send()
        if now >= nextCheck { check() }
    }

    private mutating func respond() {
        // Takes the responses that are due in this step.
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
            // Rounds up or down at random. Otherwise a small share of a small number would always be 0.
            let failed = Double(good) * failing + Double(random.next() % 1000) / 1000
            good -= min(good, Int(failed))
        }
        stopOrGoOn(good: good, bad: back - good)
        accepted += good
        responses += good
        refused += back - good
        troubles += back - good
    }

    private mutating func stopOrGoOn(good: Int, bad: Int) {
        if good > 0 { breaker?.succeeded() }
        for _ in 0..<bad { breaker?.failed(at: now, using: &random) }
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
        backlog -= Double(sent)
        open += sent
        sentSinceCheck += sent
        due[tick + max(1, latency), default: 0] += sent
        let waits = isLimited || work - Double(sent) >= 1
        meter.note(isLimited ? .limited : waits && connections > 0 ? .blocked : .flowing, open: open, at: now)
    }

    private mutating func check() {
        nextCheck = now + settings.pollInterval
        var sample = meter.take(at: now)
        (sample.connections, sample.streams) = (connections, connections * streams)
        (sample.responses, sample.troubles) = (responses, troubles)
        sample.isStopped = breaker?.isClosed == false
        load = ours.isFinite ? min(1, Double(sentSinceCheck) / (ours * sample.seconds)) : 0
        sentSinceCheck = 0
        (sample.load, sample.wasLowered) = (load, wasLowered)
        (responses, troubles, wasLowered) = (0, 0, false)
        for change in governor.decide(sample, at: now) { changes.append((elapsed, change)) }
        connections = min(connections, max(governor.connections, 0))
        dials = Array(dials.prefix(max(0, governor.connections - connections)))
    }
}
