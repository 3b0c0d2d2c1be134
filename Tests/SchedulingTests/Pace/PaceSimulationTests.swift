import RandomTesting
import Scheduling
import Testing

/// Simulates campaigns with pauses, outages, jumps of the wall clock, changes of the ceiling, and late calls.
struct PaceSimulationTests {
    private static let origin = ContinuousClock.now

    private struct Disturbances: OptionSet {
        let rawValue: Int
        static let pauses = Disturbances(rawValue: 1)
        static let jumps = Disturbances(rawValue: 2)
        static let ceilings = Disturbances(rawValue: 4)
        /// The caller asks up to five seconds late, now and then.
        static let lateCalls = Disturbances(rawValue: 8)
        /// The number of pushes left changes, because devices are done or are registered.
        static let audience = Disturbances(rawValue: 16)
    }

    private struct Simulation {
        private var random: SplitMix
        private let disturbances: Disturbances
        let times: TimeRangeSet
        let isEven: Bool
        private var pace: Pace
        private(set) var left: Int
        private let start: UTCTime
        /// The milliseconds that the wall clock is ahead of the monotonic clock, after ``start``.
        private var jumped: Int64 = 0
        private var monotonic: Int64 = 0
        private var paused: Int64 = 0
        /// The last pause ends this long before the end, in milliseconds.
        private let quietEnd: Int64 = 3_000
        /// The permitted pushes, with the monotonic time in milliseconds and the rate of the call.
        private var permitted: [(time: Int64, count: Int, rate: Double)] = []
        private(set) var most = 0.0

        init(seed: UInt64, _ disturbances: Disturbances, isEven: Bool) throws {
            var random = SplitMix(seed: seed)
            (self.disturbances, self.isEven) = (disturbances, isEven)
            start = utc("2026-11-26T04:00Z")
            let length = Int64(random.int(in: 30...600)) * 1000
            let avoid = try AvoidedMinutes(
                length < 200_000 ? [] : (0..<random.int(in: 0...2)).map { _ in random.int(in: 0...9) })
            let range = start..<start.adding(milliseconds: length)
            let times = avoid.allowedTimes(in: range, zone: Zones["Asia/Tokyo"])
            let left = random.int(in: 1...(random.chance(3) ? 50 : 20_000))
            let needed = Double(left) * 1000 / Double(times.total)
            (self.times, self.left, self.random) = (times, left, random)
            pace = Pace(times, isEven: isEven, ceiling: isEven ? 1e6 : max(needed * 1.05, 0.1))
        }

        var now: UTCTime { start.adding(milliseconds: monotonic + jumped) }

        var end: UTCTime { times.ranges.last!.upperBound }

        mutating func run() throws {
            while now < end {
                if paused > 0 {
                    paused -= 1
                } else {
                    try call()
                }
                monotonic += step()
                disturb()
            }
            try checkSeconds()
        }

        private mutating func call() throws {
            let count = pace.available(
                left: left, at: now, PaceSimulationTests.origin + .milliseconds(monotonic))
            try BrokenInvariant.unless(count >= 0 && count <= left, "\(count) of \(left)")
            try BrokenInvariant.unless(count == 0 || times.range(at: now) != nil, "sends at \(now)")
            try BrokenInvariant.unless(pace.rate <= pace.ceiling, "\(pace.rate) above \(pace.ceiling)")
            // Sometimes the caller sends fewer pushes than it may.
            let sent = random.chance(50) ? random.int(in: 0...count) : count
            pace.take(sent)
            left -= sent
            if sent > 0 { most = max(most, pace.rate) }
            permitted.append((monotonic, sent, pace.rate))
        }

        private mutating func step() -> Int64 {
            if disturbances.contains(.lateCalls), isBeforeQuietEnd, random.chance(200) {
                return Int64(random.int(in: 100...5_000))
            }
            return Int64(random.int(in: 1...50))
        }

        private var isBeforeQuietEnd: Bool { times.remaining(at: now) > quietEnd + 8_000 }

        private mutating func disturb() {
            guard isBeforeQuietEnd else {
                paused = 0
                return
            }
            if disturbances.contains(.pauses), random.chance(300) { paused = Int64(random.int(in: 1...300)) }
            if disturbances.contains(.jumps), random.chance(300) {
                jumped += Int64(random.int(in: -5_000...5_000))
            }
            if disturbances.contains(.ceilings), random.chance(300) {
                pace.change(ceiling: Double(random.int(in: 1...2_000)) / 3)
            }
            if disturbances.contains(.audience), random.chance(100) {
                left = max(0, left + random.int(in: -left / 20 - 1...left / 20 + 1))
            }
        }

        /// In each second of the monotonic clock, at most R × 1.25 + 1 pushes are sent; R is the highest rate in the second.
        private func checkSeconds() throws {
            var (first, sum) = (0, 0)
            for last in permitted.indices {
                sum += permitted[last].count
                while permitted[last].time - permitted[first].time >= 1000 {
                    sum -= permitted[first].count
                    first += 1
                }
                let rate = permitted[first...last].map(\.rate).max() ?? 0
                try BrokenInvariant.unless(
                    Double(sum) <= rate * 1.25 + 1 + 1e-6, "\(sum) pushes in a second at \(rate)")
            }
        }
    }

    @Test(arguments: UInt64(1)...6) func `evenly spread pushes are all sent, whatever happens`(seed: UInt64)
        throws
    {
        for disturbances in [[], .pauses, .jumps, .lateCalls, [.pauses, .jumps, .lateCalls, .audience]]
            as [Disturbances]
        {
            var simulation = try Simulation(seed: seed, disturbances, isEven: true)
            let needed = Double(simulation.left) * 1000 / Double(simulation.times.total)
            try simulation.run()
            try BrokenInvariant.unless(
                simulation.left == 0, "\(simulation.left) left with \(disturbances.rawValue)")
            guard disturbances.isEmpty else { continue }
            // Without disturbances, the rate exceeds the even rate for two reasons only: the reserve of a fiftieth of the time,
            // and pushes that the caller did not send at once.
            try BrokenInvariant.unless(
                simulation.most <= needed * 1.05 + 1, "a rate of \(simulation.most), not \(needed)")
        }
    }

    @Test(arguments: UInt64(1)...6) func `no second has a burst, whatever happens`(seed: UInt64) throws {
        for isEven in [true, false] {
            var simulation = try Simulation(
                seed: seed, [.pauses, .jumps, .ceilings, .lateCalls, .audience], isEven: isEven)
            try simulation.run()
        }
    }

    @Test(arguments: UInt64(1)...6) func `a rate that is enough sends all`(seed: UInt64) throws {
        var simulation = try Simulation(seed: seed, [], isEven: false)
        try simulation.run()
        try BrokenInvariant.unless(simulation.left == 0, "\(simulation.left) left")
    }
}
