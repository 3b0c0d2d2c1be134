import Testing

@testable import FarmPolicy

/// Runs the automatic scale against a simulated gateway.
struct AutomaticScaleTests {
    private static func settings(_ most: Int = 16) -> GovernorSettings {
        var settings = GovernorSettings()
        settings.maxConnections = most
        return settings
    }

    /// The arguments are: the gateway's latency in hundredths of a second, and the seconds within which an app with a backlog must
    /// have 16 connections. Each of the four steps up takes a dial of 0.03 s and a few response times, rounded up to polls of 0.2 s.
    @Test(arguments: [(5, 2.0), (20, 3), (50, 8), (200, 32)])
    func `a backlog gets its connections within a few response times a step`(latency: Int, limit: Double) {
        var model = ModelGateway(Self.settings())
        model.latency = latency
        model.run(limit)
        #expect(model.connections == 16, "after \(limit) s")
        for step in model.scalings() { #expect(step.to == 2 * step.from && step.cause == .blocked) }
    }

    @Test(arguments: [30_000.0, 70_000, 150_000])
    func `the thread gets only the connections that it can serve`(thread: Double) {
        var model = ModelGateway(Self.settings(64))
        model.ours = thread
        model.run(120)
        // A connection carries 20,000 pushes a second.
        let needed = Int((thread / 20_000).rounded(.up))
        #expect(model.connections >= needed - 1 && model.connections <= needed + 1)
        #expect(model.scalings().allSatisfy { $0.to <= needed + 1 })
    }

    @Test func `a step up that gains nothing is undone and not repeated soon`() {
        var model = ModelGateway(Self.settings())
        model.service = 15_000
        model.run(300)
        #expect(model.connections == 1)
        #expect(model.scalings().contains { $0.cause == .useless })
        #expect(model.scalings().count { $0.cause == .blocked } <= 6)
    }

    /// The incremental scale is the measure: a gateway with trouble must not get more refused pushes from an automatic one.
    @Test(arguments: [3_000.0, 12_000, 30_000, 90_000])
    func `a gateway that responds 429 above a rate is not hit harder`(takes: Double) {
        func refused(_ scale: ConnectionScaling) -> Int {
            var settings = Self.settings(8)
            settings.scale = scale
            var model = ModelGateway(settings)
            model.takes = takes
            model.run(60)
            return model.refused
        }
        let (automatic, incremental) = (refused(.automatic), refused(.incremental(1)))
        // Both find the rate by exceeding it; one doubling exceeds it by at most the rate itself for a part of a second.
        #expect(Double(automatic) <= 1.1 * Double(incremental) + takes, "\(automatic), \(incremental)")
    }

    @Test func `an app returns to its former number of connections at once`() {
        var model = ModelGateway(Self.settings())
        model.run(5)
        #expect(model.connections == 16)
        model.arrival = 0
        model.drain()
        model.run(300)
        #expect(model.connections == 1)
        #expect(model.scalings().suffix(15).allSatisfy { $0.cause == .idle && $0.to == $0.from - 1 })
        model.arrival = .infinity
        let start = model.elapsed
        model.run(2)
        #expect(model.scalings(since: start) == [.init(from: 1, to: 16, cause: .blocked)])
    }

    @Test func `a former number of connections loses its weight`() {
        var forecast = ConnectionForecast()
        let now = ContinuousClock.now
        forecast.noteUse(of: 16, at: now)
        for (minutes, next) in [(0, 16), (9, 16), (10, 8), (25, 4), (60, 2), (1_000_000, 2)] {
            #expect(
                forecast.next(after: 1, load: 0.01, at: now + .seconds(60 * minutes)) == next, "\(minutes)")
        }
    }

    @Test func `the load of the thread bounds a step`() {
        let forecast = ConnectionForecast()
        for (count, load, next) in [
            (1, 0.0, 2), (4, 0.2, 8), (4, 0.45, 8), (4, 0.6, 6), (4, 0.89, 5), (1, 0.89, 2),
        ] as [(Int, Double, Int)] {
            #expect(forecast.next(after: count, load: load, at: .now) == next, "\(count) at \(load)")
        }
    }
}
