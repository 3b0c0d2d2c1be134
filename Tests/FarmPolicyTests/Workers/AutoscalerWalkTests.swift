import FarmPolicy
import RandomTesting
import Testing

/// Runs ``Autoscaler`` for a host with workers, a gateway with a limit, and a load that changes.
@Suite struct AutoscalerWalkTests {
    private struct Host {
        let processors: Int
        /// The pushes per second of one worker.
        let pace: Double
        /// The pushes per second that the gateway accepts.
        var gateway: Double
        var arriving = 0.0
        var backlog = 0.0
        var ready = 1
        /// For how many seconds workers have been starting or stopping; 0 if the number of workers is as wanted.
        var changing = 0
        var random: SplitMix

        mutating func second(_ wanted: Int) -> Autoscaler.Reading? {
            let limit = min(gateway, pace * Double(ready)) * Double.random(in: 0.97...1.03, using: &random)
            let done = min(limit, backlog + arriving)
            backlog = min(backlog + arriving - done, 1e7)
            if wanted != ready {
                changing += 1
                guard changing > 2 else { return nil }
                (ready, changing) = (wanted, 0)
                return nil
            }
            let busy = min(Double(ready), done / pace)
            return .init(busy: busy, waiting: Int(backlog / 200), rate: done)
        }
    }

    private struct Event {
        let second: Int
        let change: Autoscaler.Change
    }

    @Test(arguments: 1...200) func `the autoscaler follows the load within bounds and does not flap`(
        seed: UInt64
    ) {
        var random = SplitMix(seed: seed)
        let processors = Int.random(in: 1...32, using: &random)
        var autoscaler = Autoscaler(most: processors)
        let start = ContinuousClock.now
        var host = Host(
            processors: processors, pace: Double.random(in: 1e3...1e5, using: &random), gateway: .infinity,
            random: random)
        var second = 0
        var events: [Event] = []
        for phase in 0..<6 {
            let capacity = host.pace * Double(processors)
            host.arriving = [0, 0.02, 0.3, 0.7, 1.5].randomElement(using: &random)! * capacity
            host.gateway =
                random.chance(3) ? capacity * Double.random(in: 0.05...1, using: &random) : .infinity
            // Each phase starts without the backlog of the previous phase.
            host.backlog = 0
            var recent: [Autoscaler.Reading?] = []
            let begin = events.count
            for step in 0..<900 {
                second += 1
                let reading = host.second(autoscaler.workers)
                recent.append(reading)
                let before = autoscaler.workers
                guard let change = autoscaler.evaluate(reading, at: start + .seconds(second)) else {
                    #expect(autoscaler.workers == before)
                    continue
                }
                #expect(change.from == before && change.to == autoscaler.workers && change.to != before)
                #expect((1...processors).contains(change.to))
                if let last = events.last { #expect(second - last.second >= 5) }
                if change.to > change.from {
                    for reading in recent.suffix(3) {
                        #expect(
                            reading.map { $0.waiting > 0 && $0.busy >= 0.75 * Double(before) } ?? false,
                            "phase \(phase) \(step)")
                    }
                }
                events.append(Event(second: second, change: change))
            }
            let calm = events[begin...].filter { $0.second > second - 600 }
            // If another worker brings no gain, the autoscaler removes the worker, and tries again after 1, 2, 4 and 8 minutes.
            // Each attempt makes two changes, and there are no other changes.
            #expect(calm.count <= 8, "\(calm)")
            let demand = min(host.arriving, host.gateway) / host.pace
            if host.gateway == .infinity, host.arriving > capacity {
                #expect(autoscaler.workers == processors)
            }
            if host.arriving == 0 { #expect(autoscaler.workers == 1) }
            // The number of workers is not much higher than the load needs.
            #expect(Double(autoscaler.workers) <= max(1, 2 * demand + 2) * 1.5 + 1, "\(demand)")
        }
    }
}
