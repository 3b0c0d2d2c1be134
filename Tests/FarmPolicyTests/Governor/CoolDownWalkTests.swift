import RandomTesting
import Testing

@testable import FarmPolicy

/// Pushes to one device are refused, delayed and sent again until the gateway recovers.
struct CoolDownWalkTests {
    private let start = ContinuousClock.now

    @Test func `no push overtakes another`() {
        for seed in 0..<300 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            var cool = CoolDown()
            var now = start
            var next = 0
            var waiting: [(due: ContinuousClock.Instant, push: Int)] = []
            var accepted: [Int] = []
            let well = start + .seconds(Int.random(in: 1...600, using: &random))
            var attempts: [Int: Int] = [:]
            func settle(_ push: Int, isReturned: Bool) {
                // A report takes a random time.
                let latency = Duration.milliseconds(Int.random(in: 0...900, using: &random))
                if let wait = cool.postpone(1, isReturned: isReturned, at: now) {
                    waiting.append((now + wait + latency, push))
                } else if now < well {
                    attempts[push, default: 0] += 1
                    let full = Jitter.doubled(
                        .seconds(30), times: attempts[push, default: 1] - 1, cap: .seconds(1800))
                    let pause = cool.refused(1, delays: full / 2...full, at: now)
                    let jitter = full / 2 * Int.random(in: 0...10, using: &random) / 10
                    waiting.append((now + max(pause, full / 2) + jitter + latency, push))
                } else {
                    cool.accepted(1, at: now)
                    accepted.append(push)
                }
            }
            for _ in 0..<30_000 where next < 40 || !waiting.isEmpty {
                now += .milliseconds(Int.random(in: 50...2000, using: &random))
                waiting.sort { $0.due < $1.due }
                while let first = waiting.first, first.due <= now {
                    waiting.removeFirst()
                    settle(first.push, isReturned: true)
                }
                if next < 40, random.chance(10) {
                    next += 1
                    settle(next, isReturned: false)
                }
            }
            #expect(accepted == Array(1...40), "seed \(seed)")
        }
    }
}
