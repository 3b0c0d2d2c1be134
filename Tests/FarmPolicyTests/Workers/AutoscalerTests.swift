import FarmPolicy
import RandomTesting
import Testing

@Suite struct AutoscalerTests {
    private var autoscaler = Autoscaler(most: 8)
    private var now = ContinuousClock.now

    /// Gives the autoscaler the same sample for `seconds` in a row.
    private mutating func elapse(
        _ seconds: Int, busy: Double, waiting: Int = 0, rate: Double = 0
    ) -> [Autoscaler.Change] {
        (0..<seconds).compactMap { _ in
            now += .seconds(1)
            return autoscaler.evaluate(.init(busy: busy, waiting: waiting, rate: rate), at: now)
        }
    }

    /// Simulates a load that keeps all workers busy, however many there are. Each further worker adds the same throughput.
    private mutating func grow() {
        for _ in 0..<240 {
            _ = elapse(
                1, busy: Double(autoscaler.workers), waiting: 9, rate: Double(autoscaler.workers) * 1000)
        }
    }

    @Test mutating func `a worker is added when the current one is busy and work is queued`() {
        #expect(elapse(3, busy: 0.9, waiting: 9, rate: 100).isEmpty)
        #expect(elapse(1, busy: 0.9, waiting: 9, rate: 100) == [.init(from: 1, to: 2, reason: .busy)])
        #expect(autoscaler.workers == 2)
    }

    @Test(arguments: [(busy: 0.9, waiting: 0), (busy: 0.74, waiting: 9), (busy: 0, waiting: 9)])
    mutating func `no worker is added without queued work or when another part is the limit`(
        busy: Double, waiting: Int
    ) {
        #expect(elapse(300, busy: busy, waiting: waiting, rate: 100).isEmpty)
    }

    @Test mutating func `one second of free capacity restarts the time`() {
        for _ in 0..<50 {
            #expect(elapse(3, busy: 1, waiting: 9).isEmpty)
            #expect(elapse(1, busy: 0.2, waiting: 9).isEmpty)
        }
    }

    @Test mutating func `a useless step is reverted and the next one waits longer`() {
        var ups: [ContinuousClock.Instant] = []
        for _ in 0..<1200 {
            // The rate does not depend on the number of workers, so another worker brings no gain.
            guard let change = elapse(1, busy: Double(autoscaler.workers), waiting: 9, rate: 1000).first
            else {
                continue
            }
            #expect(change.reason == (change.to == 2 ? .busy : .noGain))
            if change.to == 2 { ups.append(now) }
        }
        let pauses = zip(ups, ups.dropFirst()).map { $1 - $0 }
        #expect(pauses.count >= 3)
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $1 > $0 * 1.5 }, "\(pauses)")
    }

    @Test mutating func `an idle host keeps one worker`() {
        grow()
        #expect(autoscaler.workers == 8)
        let changes = elapse(60, busy: 0)
        #expect(changes == [.init(from: 8, to: 1, reason: .idle)])
        #expect(elapse(600, busy: 0).isEmpty)
    }

    @Test(arguments: [(period: 10, end: 1), (period: 5, end: 1), (period: 3, end: 8)])
    mutating func `workers are removed despite rare lost seconds but not with frequent ones`(
        period: Int, end: Int
    ) {
        grow()
        for second in 0..<120 { _ = elapse(1, busy: second % period == 0 ? 7.5 : 0.1) }
        #expect(autoscaler.workers == end)
    }

    @Test mutating func `a short pause in the work removes no worker`() {
        grow()
        #expect(elapse(14, busy: 0).isEmpty)
        #expect(elapse(30, busy: 7).isEmpty)
        #expect(autoscaler.workers == 8)
    }

    @Test mutating func `the number of workers matches the work`() {
        grow()
        _ = elapse(300, busy: 1.4)
        #expect(autoscaler.workers == 3)
    }

    @Test mutating func `nothing is decided while workers start and stop`() {
        #expect(elapse(3, busy: 1, waiting: 9).isEmpty)
        for _ in 0..<100 {
            now += .seconds(1)
            #expect(autoscaler.evaluate(nil, at: now) == nil)
        }
        #expect(elapse(7, busy: 1, waiting: 9).isEmpty)
        #expect(elapse(2, busy: 1, waiting: 9).count == 1)
    }

    @Test mutating func `workers that fail to start are not tried for a while`() {
        _ = elapse(4, busy: 1, waiting: 9)
        #expect(autoscaler.stay(at: 1, now: now) == .init(from: 2, to: 1, reason: .unstartable))
        #expect(autoscaler.stay(at: 1, now: now) == nil)
        #expect(elapse(50, busy: 1, waiting: 9).isEmpty)
        #expect(elapse(30, busy: 1, waiting: 9).first?.reason == .busy)
    }

    @Test mutating func `the workers never exceed the processors`() {
        autoscaler = Autoscaler(most: 3)
        grow()
        #expect(autoscaler.workers == 3)
    }
}
