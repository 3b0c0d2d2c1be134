import RandomTesting
import Testing

@testable import FarmPolicy

/// Compares the restart policy with a simple model of its rules. A child runs and exits at random, and the model computes the
/// expected delay from all runs of the child.
@Suite struct RestartWalkTests {
    /// One run of the process.
    private struct Life {
        var isReady: Bool
        var length: Duration
        var cause: EndCause
        /// Whether the process made progress.
        var hasProgressed: Bool
        /// Whether an operator requested another attempt before this run.
        var isReset = false
    }

    private struct Range: Equatable {
        var least: Duration
        var most: Duration
        init(_ least: Duration, _ most: Duration) { (self.least, self.most) = (least, most) }
    }

    /// The expected range of the delay before the next restart, after these runs of the process.
    private static func expected(_ lives: [Life]) -> Range? {
        var (steps, isRow, unready, wasBrief) = (0, false, 0, false)
        var result: Range?
        for life in lives {
            if life.isReset { (steps, isRow, unready, wasBrief) = (0, false, 0, false) }
            let base = min(Duration.seconds(60), .seconds(1 << min(steps, 10)))
            let longer = Range(base / 2, base)
            guard life.isReady else {
                if life.hasProgressed { (steps, isRow) = (0, false) }
                if life.cause == .kill {
                    result = Range(.milliseconds(300), .milliseconds(300))
                    continue
                }
                unready += 1
                result = unready >= 3 ? nil : longer
                if unready < 3 { (steps, isRow) = (steps + 1, true) }
                continue
            }
            unready = 0
            if life.hasProgressed || life.length >= .seconds(60) { (steps, isRow) = (0, false) }
            let isBrief = life.length < .seconds(1)
            let pause: Duration = isBrief && wasBrief ? .milliseconds(300) : .zero
            wasBrief = isBrief
            if life.cause == .crash, isRow {
                let base = min(Duration.seconds(60), .seconds(1 << min(steps, 10)))
                result = Range(base / 2, base)
                steps += 1
            } else {
                result = Range(pause, pause)
                if life.cause == .crash { isRow = true }
            }
        }
        return result
    }

    @Test(arguments: 0..<4)
    func `each restart has the delay of its history`(block: UInt64) throws {
        for seed in block * 500..<(block + 1) * 500 {
            var random = SplitMix(seed: seed)
            var policy = RestartPolicy()
            var now = ContinuousClock.now
            var lives: [Life] = []
            // In one walk most processes exit in the same way, so that the walk contains long series of crashes or of kills.
            let moods: [EndCause] = [.crash, .crash, .kill]
            let mood = moods.randomElement(using: &random) ?? .crash
            for _ in 0..<40 {
                var life = Life(
                    isReady: !random.chance(8),
                    length: [.milliseconds(200), .seconds(3), .seconds(59), .seconds(60), .seconds(900)]
                        .randomElement(using: &random) ?? .zero,
                    cause: random.chance(6) ? .regular : random.chance(6) ? .kill : mood,
                    hasProgressed: random.chance(12))
                if random.chance(40) {
                    life.isReset = true
                    policy.reset()
                }
                if life.isReady { policy.ready(at: now) } else { life.hasProgressed = false }
                if life.hasProgressed { policy.progressed() }
                now += life.length
                lives.append(life)
                switch (policy.ended(life.cause, at: now, using: &random), Self.expected(lives)) {
                case (.giveUp(let failed), nil): try #require(failed >= 3, "seed \(seed)")
                case (.start(let delay), let range?):
                    try #require(
                        delay >= range.least && delay <= range.most, "seed \(seed): \(delay), \(range)")
                    now += delay
                case (let decision, let range):
                    Issue.record("seed \(seed): \(decision), but \(range as Any) was to come after \(lives)")
                    return
                }
            }
        }
    }

    @Test
    func
        `a process that always crashes restarts more and more rarely and is never given up once it was ready`()
        throws
    {
        for seed in 0..<300 as Swift.Range<UInt64> {
            var random = SplitMix(seed: seed)
            var policy = RestartPolicy()
            let start = ContinuousClock.now
            var now = start
            var starts = 0
            while start.duration(to: now) < .seconds(3600) {
                policy.ready(at: now)
                now += .milliseconds(500)
                starts += 1
                guard case .start(let delay) = policy.ended(.crash, at: now, using: &random) else {
                    Issue.record("seed \(seed): given up")
                    return
                }
                now += delay
            }
            try #require((60...130).contains(starts), "seed \(seed): \(starts) starts in an hour")
        }
    }
}
