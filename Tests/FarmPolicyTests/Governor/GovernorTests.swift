import Testing

@testable import FarmPolicy

struct GovernorTests {
    @Test(arguments: [
        (ConnectionScaling.automatic, 3, 6, 2), (.incremental(2), 3, 5, 1), (.exponential(2), 3, 6, 1),
        (.exponential(1.1), 3, 4, 2),
        (.exponential(1.5), 1, 2, 0), (.constant, 4, 4, 4),
    ]) func `each mode has its step sizes`(mode: ConnectionScaling, from: Int, up: Int, down: Int) {
        #expect(mode.up(from: from) == up && mode.down(from: from) == down)
    }

    /// Gives samples to a connection scale, and records the scale's steps.
    private struct Bench {
        var scale: ConnectionScale
        var now = ContinuousClock.now
        var steps: [ConnectionScale.Step] = []

        init(_ change: (inout GovernorSettings) -> Void = { _ in }) {
            var settings = GovernorSettings()
            settings.scale = .incremental(1)
            change(&settings)
            scale = ConnectionScale(settings)
        }

        mutating func elapse(
            _ count: Int, isHeldBack: Bool = false, _ change: (inout GovernorSample) -> Void
        ) {
            for _ in 0..<count {
                now += .milliseconds(200)
                var sample = GovernorSample(span: .milliseconds(200))
                sample.connections = scale.wanted
                sample.streams = 1000 * scale.wanted
                (sample.blocked, sample.open, sample.responses) = (
                    1, Double(sample.streams), 1000 * scale.wanted
                )
                change(&sample)
                if let step = scale.decide(sample, isHeldBack: isHeldBack, at: now) { steps.append(step) }
            }
        }
    }

    @Test func `one connection is added after the sustained time and not earlier`() {
        var bench = Bench()
        bench.elapse(9) { _ in }
        #expect(bench.steps.isEmpty)
        bench.elapse(1) { _ in }
        #expect(bench.steps == [.init(from: 1, to: 2, cause: .blocked)])
        // After the first step, the scale waits for 4 s and then measures the gain for 2 s. The load in these 2 s is also the
        // reason for the next step, so the next step follows at once.
        bench.elapse(28) { _ in }
        #expect(bench.steps.count == 1)
        bench.elapse(1) { _ in }
        #expect(bench.steps.count == 2)
    }

    @Test func `a moment of free capacity restarts the time`() {
        var bench = Bench()
        for _ in 0..<20 {
            bench.elapse(9) { _ in }
            bench.elapse(1) { $0.blocked = 0.1 }
        }
        #expect(bench.steps.isEmpty)
    }

    @Test(arguments: 0..<6) func `each reason against more connections stops the growth`(row: Int) {
        var bench = Bench()
        bench.elapse(100, isHeldBack: row == 0) {
            switch row {
            case 1: $0.load = 0.95
            case 2: $0.troubles = 30
            case 3: $0.isSlowed = true
            case 4: $0.isStopped = true
            case 5: ($0.blocked, $0.limited) = (0, 1)
            default: break
            }
        }
        #expect(bench.steps.isEmpty)
    }

    @Test func `a lowered limit stops growth for a settle period`() {
        var bench = Bench()
        bench.elapse(5) { _ in }
        bench.elapse(1) { $0.wasLowered = true }
        bench.elapse(28) { _ in }
        #expect(bench.steps.isEmpty)
        bench.elapse(5) { _ in }
        #expect(bench.steps.count == 1)
    }

    @Test func `nothing is decided while connections are missing`() {
        var bench = Bench { $0.minConnections = 3 }
        bench.elapse(100) { ($0.connections, $0.streams) = (2, 2000) }
        #expect(bench.steps.isEmpty)
    }

    @Test func `an idle app has no connections and needs none`() {
        var bench = Bench { $0.minConnections = 3 }
        bench.elapse(100) {
            ($0.connections, $0.streams, $0.open, $0.blocked, $0.responses) = (0, 0, 0, 0, 0)
        }
        #expect(bench.steps.isEmpty && bench.scale.wanted == 3)
    }

    @Test func `trouble right after a step up reverts the step`() {
        var bench = Bench()
        bench.elapse(10) { _ in }
        bench.elapse(40) { if $0.connections > 1 { ($0.responses, $0.troubles) = (1900, 100) } }
        #expect(bench.steps.map(\.cause) == [.blocked, .troubled])
        #expect(bench.scale.wanted == 1)
    }

    @Test func `a pool that grows by itself is only reduced`() {
        var bench = Bench { $0.growsByItself = true }
        bench.elapse(100) { ($0.connections, $0.streams) = (6, 6000) }
        #expect(bench.steps.isEmpty && bench.scale.wanted == 6)
        bench.elapse(10) { ($0.open, $0.blocked) = (100, 0) }
        #expect(bench.steps == [.init(from: 6, to: 5, cause: .idle)])
    }

    @Test func `the meter weights values by time`() {
        let start = ContinuousClock.now
        var meter = LoadMeter(at: start)
        meter.note(.blocked, open: 100, at: start)
        meter.note(.limited, open: 50, at: start + .milliseconds(100))
        meter.note(.flowing, open: 0, at: start + .milliseconds(150))
        let sample = meter.take(at: start + .milliseconds(200))
        #expect(sample.span == .milliseconds(200) && sample.blocked == 0.5 && sample.limited == 0.25)
        #expect(abs(sample.open - 62.5) < 0.001)
        let next = meter.take(at: start + .milliseconds(400))
        #expect(next.open == 0 && next.blocked == 0 && next.span == .milliseconds(200))
    }
}
