import PushModel
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
        var (tally, series) = (RewardTally(variants: names), earlier ?? RewardTally(variants: names))
        var assignment = VariantAssignment()
        var random = SeededRandom(seed: 11)
        var (best, learned) = (0, 0)
        let explored = policy.exploration.map { Int(Double(audience) * $0.share) } ?? 0
        for next in stride(from: 0, to: audience, by: 500) {
            let isExploring = next < explored
            let shares = policy.shares(
                isExploring: isExploring, tallies: series.tallies,
                seed: LearningPolicy.seed(campaign: "c", step: next))
            let draw = VariantDraw(shares: shares, holdout: 0.1, campaign: "c", series: "s")
            for ordinal in next..<min(audience, next + 500) {
                let arm = assignment.assign(UInt16(ordinal), to: draw.arm(partition: 0, ordinal: ordinal))
                var chance = holdoutChance
                if case .variant(let index) = arm {
                    chance = chances[index]
                    if !isExploring { (learned, best) = (learned + 1, best + (index == 2 ? 1 : 0)) }
                }
                let thousandths: Int64 = random.happens(chance) ? 1000 : 0
                tally.add(pulls: 1, thousandths: thousandths, to: arm)
                series.add(pulls: 1, thousandths: thousandths, to: arm)
            }
        }
        return Outcome(
            tally: tally, assignment: assignment, shareOfBest: Double(best) / Double(max(1, learned)))
    }

    private static let names = ["a", "b", "c"]
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
