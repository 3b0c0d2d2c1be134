import PushModel
import Scheduling
import Segments
import Testing
import Variants

/// A campaign that learns, from the first device to the last: policy, draw, assignment and tally together.
struct LearningCampaignTests {
    private static let chances = [0.05, 0.05, 0.15]
    private static let holdoutChance = 0.01

    private struct Outcome: Equatable {
        var tally: RewardTally
        var assignment: VariantAssignment
        /// The share of the best variant among the devices after the exploration.
        var shareOfBest: Double
    }

    /// Sends to `audience` devices in steps of 500. Rewards arrive before the next step.
    private static func send(
        _ policy: LearningPolicy, audience: Int = 20_000, earlier: RewardTally? = nil
    ) -> Outcome {
        var tally = RewardTally(variants: ["a", "b", "c"])
        var (assignment, rewarded) = (VariantAssignment(), OrdinalChunk())
        var random = SeededRandom(seed: 11)
        var (best, learned) = (0, 0)
        var (now, explored) = (UTCTime(seconds: 0), UTCTime?.none)
        var next = 0
        var waits = 0
        while next < audience, waits < 2 {
            let phase = policy.phase(assigned: next, audience: audience, explored: explored, now: now)
            if explored == nil, case .wait = phase { explored = now }
            if case .wait(let time) = phase {
                (now, waits) = (time, waits + 1)
                continue
            }
            let shares = policy.shares(
                in: phase, tallies: tally.tallies(with: earlier),
                seed: LearningPolicy.seed(campaign: "c", step: next))
            let draw = VariantDraw(shares: shares, holdout: 0.1, campaign: "c", series: "s")
            var end = min(audience, next + 500)
            if case .explore(let devices) = phase { end = min(end, next + devices) }
            for ordinal in next..<end {
                let arm = assignment.assign(UInt16(ordinal), to: draw.arm(partition: 0, ordinal: ordinal))
                tally.addPulls(1, to: arm)
                var chance = holdoutChance
                if case .variant(let index) = arm {
                    chance = chances[index]
                    if phase == .learn { (learned, best) = (learned + 1, best + (index == 2 ? 1 : 0)) }
                }
                guard random.happens(chance) else { continue }
                // A second reward of a device changes nothing.
                for _ in 0..<2 {
                    _ = tally.count(1, of: UInt16(ordinal), assignment: assignment, rewarded: &rewarded)
                }
            }
            next = end
        }
        return Outcome(
            tally: tally, assignment: assignment, shareOfBest: Double(best) / Double(max(1, learned)))
    }

    private static let exploration = LearningPolicy.Exploration(share: 0.1, wait: 1_800_000)

    /// The allocation, and the least share of the best variant after the exploration.
    private static let allocations: [(Allocation, Double)] = [
        (.epsilonGreedy(epsilon: 0.1), 0.9), (.softmax(temperature: 0.02), 0.95), (.thompson, 0.95),
    ]

    @Test(arguments: allocations) func `after the exploration, most devices get the best variant`(
        allocation: Allocation, least: Double
    ) {
        let outcome = Self.send(LearningPolicy(allocation: allocation, exploration: Self.exploration))
        #expect(outcome.shareOfBest > least, "\(outcome.shareOfBest)")
        let tally = outcome.tally
        #expect(tally.variants.map(\.pulls).reduce(tally.holdout.pulls, +) == 20_000)
        #expect(outcome.assignment.count == 20_000)
        #expect(abs(tally.holdout.pulls - 2000) < 150)
        for (entry, chance) in zip(tally.variants + [tally.holdout], Self.chances + [Self.holdoutChance]) {
            let slack = 0.03
            #expect(entry.interval.low - slack < chance && chance < entry.interval.high + slack, "\(entry)")
        }
    }

    @Test func `an even allocation does not follow the rewards`() {
        let outcome = Self.send(LearningPolicy(allocation: .even, exploration: nil))
        #expect(abs(outcome.shareOfBest - 1.0 / 3) < 0.02, "\(outcome.shareOfBest)")
    }

    @Test func `the next run of a series knows the best variant at once`() {
        let first = Self.send(LearningPolicy(allocation: .thompson, exploration: Self.exploration))
        let second = Self.send(
            LearningPolicy(allocation: .thompson, exploration: nil), audience: 2000, earlier: first.tally)
        #expect(second.shareOfBest > 0.97, "\(second.shareOfBest)")
    }

    @Test func `an equal campaign has equal results`() {
        let policy = LearningPolicy(allocation: .thompson, exploration: Self.exploration)
        #expect(Self.send(policy, audience: 3000) == Self.send(policy, audience: 3000))
    }
}
