import RandomTesting
import Testing

@testable import FarmPolicy

/// Runs the governor against a simulated gateway. Checks the limits that the governor finds and the time of each of its steps.
struct GovernorSimulationTests {
    private static func exponential() -> GovernorSettings {
        var settings = GovernorSettings()
        (settings.scale, settings.maxConnections) = (.exponential(2), 8)
        return settings
    }

    @Test(arguments: [ConnectionScaling.incremental(1), .incremental(3), .exponential(2)])
    func `a distant gateway gets the maximum of connections and its throughput rises`(
        scale: ConnectionScaling
    ) {
        var settings = GovernorSettings()
        (settings.scale, settings.maxConnections) = (scale, 8)
        var model = ModelGateway(settings)
        model.run(70)
        #expect(model.connections == 8)
        // 8 connections have 8,000 streams, and a push uses its stream for 50 ms. So at most 160,000 pushes a second are
        // possible.
        #expect(model.goodput(over: 5) > 0.8 * 160_000)
        for step in model.scalings() { #expect(step.to > step.from && step.cause == .blocked) }
    }

    @Test func `constant mode keeps the minimum`() {
        var settings = GovernorSettings()
        (settings.scale, settings.minConnections) = (.constant, 2)
        var model = ModelGateway(settings)
        model.run(60)
        #expect(model.connections == 2 && model.changes.isEmpty)
    }

    @Test func `an idle app shrinks to the minimum with any gateway`() {
        var settings = Self.exponential()
        settings.minConnections = 2
        var model = ModelGateway(settings)
        model.run(30)
        #expect(model.connections == 8)
        model.arrival = 100
        model.run(1)
        model.arrival = 0
        model.credit = 0
        model.run(20)
        #expect(model.connections == 2)
        #expect(model.scalings().suffix(2).allSatisfy { $0.cause == .idle })
    }

    @Test func `the governor finds the gateway's own limit and reverts its step up`() {
        var model = ModelGateway(Self.exponential())
        model.service = 15_000
        model.run(300)
        #expect(model.connections == 1)
        #expect(model.scalings().contains { $0.cause == .useless })
        // The governor tries more connections after growing delays: 20 s, 40 s, 80 s, 160 s.
        #expect(model.scalings().count { $0.cause == .blocked } <= 5)
        #expect(model.governor.rate == nil)
    }

    @Test func `a gateway that accepts no more connections gets no attempts in a row`() {
        var model = ModelGateway(Self.exponential())
        model.most = 1
        model.run(200)
        #expect(model.connections == 1)
        #expect(model.scalings().contains { $0.cause == .unmade })
        #expect(model.scalings().count { $0.cause == .blocked } <= 5)
    }

    @Test(arguments: [true, false]) func `nothing grows while the farm itself is the limit`(isProcessor: Bool)
    {
        var model = ModelGateway(Self.exponential())
        // The streams could send 20,000 pushes a second. The limit is either the farm's processor or the send credit from Redis.
        if isProcessor { model.ours = 9_000 } else { model.credit = 15_000 }
        model.run(120)
        #expect(model.scalings().isEmpty && model.connections == 1)
    }

    @Test(arguments: [500.0, 3_000, 12_000])
    func `the governor finds the rate above which the gateway responds 429 and keeps it`(
        takes: Double
    ) {
        var model = ModelGateway(Self.exponential())
        model.takes = takes
        model.run(30)
        let (accepted, refused) = (model.accepted, model.refused)
        model.run(60)
        #expect(Double(model.accepted - accepted) > 0.8 * takes * 60)
        #expect(Double(model.refused - refused) < 0.05 * takes * 60)
        #expect(model.connections == 1)
    }

    @Test func `the rate rises when the gateway accepts any rate again`() {
        var model = ModelGateway(GovernorSettings(connections: 1))
        let before = model.goodput(over: 10)
        model.takes = 1_000
        model.run(30)
        #expect(model.governor.rate.map { $0 < 1_500 } == true)
        model.takes = .infinity
        model.run(60)
        #expect(model.governor.rate == nil)
        #expect(model.goodput(over: 5) > 0.95 * before)
    }

    @Test func `a phase of trouble reduces the rate for a limited time`() {
        var model = ModelGateway(GovernorSettings(connections: 1))
        let before = model.goodput(over: 10)
        model.failing = 1
        model.run(10)
        #expect(model.governor.rate.map { $0 < before / 8 } == true)
        model.failing = 0
        model.run(40)
        #expect(model.goodput(over: 5) > 0.9 * before)
    }

    /// The arguments are: for how many seconds every response is 503, for how many seconds no response is 503, how often both
    /// phases are repeated, and the seconds within which the rate must recover.
    @Test(arguments: [(3.0, 2.0, 4, 8.0), (1, 1, 6, 10), (10, 0, 1, 10), (30, 0, 1, 10), (60, 0, 1, 10)])
    func `the rate recovers soon after bursts of 503`(
        burst: Double, pause: Double, times: Int, limit: Double
    ) {
        for seed in 1...10 as ClosedRange<UInt64> {
            var model = ModelGateway(GovernorSettings(connections: 1), seed: seed)
            model.breaker = GatewayCircuitBreaker()
            let before = model.goodput(over: 10)
            for _ in 0..<times {
                model.failing = 1
                model.run(burst)
                model.failing = 0
                model.run(pause)
            }
            var seconds = 0.0
            while seconds < 60, model.goodput(over: 0.5) < 0.85 * before { seconds += 0.5 }
            #expect(seconds <= limit, "seed \(seed)")
        }
    }

    @Test(arguments: [0.03, 0.1, 0.5]) func `trouble at any rate does not stop the sending`(
        share: Double
    ) {
        var model = ModelGateway(GovernorSettings(connections: 1))
        let before = model.goodput(over: 10)
        model.failing = share
        model.run(60)
        #expect(model.goodput(over: 30) > 0.8 * before * (1 - share))
    }

    @Test func `a lowered limit is not evaded by more connections at once`() {
        var model = ModelGateway(Self.exponential())
        model.arrival = 15_000
        model.run(30)
        #expect(model.connections == 1)
        model.streams = 100
        model.run(4)
        #expect(model.governor.connections == 1)
    }

    @Test func `a steady state does not change`() {
        for (arrival, least, scale) in [
            (30_000.0, 2, ConnectionScaling.incremental(1)), (70_000, 4, .incremental(1)),
            (10_000, 1, .incremental(1)),
            (30_000, 2, .automatic), (70_000, 4, .automatic), (10_000, 1, .automatic),
        ] {
            var settings = GovernorSettings()
            settings.scale = scale
            var model = ModelGateway(settings)
            model.arrival = arrival
            model.run(120)
            let before = model.changes.count
            #expect(model.connections >= least && model.connections <= 2 * least)
            model.run(600)
            #expect(model.changes.count == before, "\(arrival), \(scale): \(model.changes.dropFirst(before))")
        }
    }

    @Test func `random walks of gateway behaviour keep the rules`() throws {
        for seed in 0..<30 as Range<UInt64> { try walk(seed: seed) }
    }

    private func walk(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        var settings = GovernorSettings()
        settings.minConnections = Int.random(in: 1...3, using: &random)
        settings.maxConnections = Int.random(in: settings.minConnections...12, using: &random)
        settings.scale =
            [
                .incremental(Int.random(in: 1...3, using: &random)), .exponential(1.5), .exponential(2),
                .constant, .automatic,
            ]
            .randomElement(using: &random) ?? .constant
        var model = ModelGateway(settings, seed: seed)
        var lastStep = Duration.seconds(-1000)
        var seen = 0
        for _ in 0..<30 {
            model.latency = Int.random(in: 1...20, using: &random)
            model.streams = [0, 1, 10, 100, 1000].randomElement(using: &random) ?? 1
            model.service = random.chance(3) ? Double.random(in: 100...50_000, using: &random) : .infinity
            model.takes = random.chance(3) ? Double.random(in: 5...20_000, using: &random) : .infinity
            model.failing = random.chance(4) ? Double.random(in: 0...1, using: &random) : 0
            model.arrival = random.chance(3) ? Double.random(in: 0...5_000, using: &random) : .infinity
            model.ours = random.chance(4) ? Double.random(in: 100...20_000, using: &random) : .infinity
            model.most = random.chance(4) ? Int.random(in: 0...4, using: &random) : .max
            try model.run(Double.random(in: 1...20, using: &random)) { model in
                let (connections, rate) = (model.governor.connections, model.governor.rate ?? 1)
                guard settings.minConnections...settings.maxConnections ~= connections, rate >= 1,
                    rate.isFinite
                else {
                    throw BrokenInvariant(
                        description: "seed \(seed): \(connections) connections, \(rate) a second")
                }
                for (at, change) in model.changes.dropFirst(seen) {
                    guard case .connections(let step) = change else { continue }
                    // The governor makes no step until the last step has settled and the governor has observed the load long
                    // enough. Automatic steps up, and their undoing, follow the responses instead.
                    if settings.scale != .automatic || step.cause == .idle {
                        try #require(at - lastStep >= settings.settlePeriod, "seed \(seed)")
                    }
                    lastStep = at
                    if step.cause == .blocked {
                        try #require(model.load <= 0.9 && model.connections > 0, "seed \(seed)")
                    }
                    try #require(settings.scale != .constant, "seed \(seed)")
                }
                seen = model.changes.count
            }
        }
        // The gateway has no more trouble, so the governor must drop all limits that it learned.
        (model.latency, model.streams, model.service, model.takes) = (5, 100, .infinity, .infinity)
        (model.failing, model.arrival, model.ours, model.most) = (0, .infinity, .infinity, .max)
        model.run(1000)
        try #require(model.governor.rate == nil, "seed \(seed): \(model.governor.rate ?? 0)")
        let best = settings.scale == .constant ? settings.minConnections : settings.maxConnections
        try #require(model.connections == best, "seed \(seed): \(model.connections) of \(best)")
        let steps = model.changes.count
        model.run(300)
        try #require(model.changes.count == steps, "seed \(seed)")
    }
}
