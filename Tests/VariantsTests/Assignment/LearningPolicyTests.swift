import Testing
import Variants

struct LearningPolicyTests {
    private static let minute: Int64 = 60_000
    private static let policy = LearningPolicy(
        allocation: .epsilonGreedy(epsilon: 0), exploration: .init(share: 0.05, wait: 30 * minute))

    @Test func `an exploration is even, and learning follows the estimates`() {
        let tallies = [VariantTally(pulls: 9, rewards: 1), VariantTally(pulls: 9, rewards: 2)]
        let explored = Self.policy.shares(isExploring: true, tallies: tallies, seed: 1)
        #expect(explored == [0.5, 0.5])
        #expect(Self.policy.shares(isExploring: false, tallies: tallies, seed: 1) == [0, 1])
    }

    @Test func `equal steps have equal shares, and other steps have others`() {
        let policy = LearningPolicy(allocation: .thompson, exploration: nil)
        let tallies = [VariantTally(pulls: 90, rewards: 10), VariantTally(pulls: 90, rewards: 12)]
        func shares(_ step: Int) -> [Double] {
            policy.shares(
                isExploring: false, tallies: tallies, seed: LearningPolicy.seed(campaign: "c", step: step))
        }
        #expect(shares(1) == shares(1) && shares(1) != shares(2))
    }

    /// The audience, the rate, the minutes of the delay, the policy, and the warnings.
    private static let forecasts: [(Int, Double, Int64, LearningPolicy, [String])] = [
        (
            4_000_000, 10_000, 30, LearningPolicy(allocation: .thompson, exploration: nil),
            [
                "4,000,000 pushes at 10,000 a second take 6 min 40 s; rewards arrive after 30 min, so the campaign learns nothing; set explore or a lower rate"
            ]
        ),
        (
            4_000_000, 1_500, 30, LearningPolicy(allocation: .thompson, exploration: nil),
            [
                "at 1,500 pushes a second, 67 % of the audience has a push when rewards arrive after 30 min; set explore or a lower rate"
            ]
        ),
        (4_000_000, 1_000, 30, LearningPolicy(allocation: .thompson, exploration: nil), []),
        (4_000_000, 10_000, 30, LearningPolicy(allocation: .even, exploration: nil), []),
        (4_000_000, 10_000, 30, policy, []),
        (4_000_000, 10_000, 45, policy, ["explore waits 30 min, but rewards arrive after 45 min"]),
        (2_000, 10_000, 30, policy, ["explore sends each variant to 50 devices; 100 or more are needed"]),
    ]

    @Test(arguments: forecasts) func `a plan warns when a campaign cannot learn`(
        audience: Int, rate: Double, minutes: Int64, policy: LearningPolicy, warnings: [String]
    ) {
        func forecast(_ earlierPulls: [Int]) -> LearningForecast {
            LearningForecast(
                audience: audience, rate: rate, delay: minutes * Self.minute, policy: policy, variants: 2,
                earlierPulls: earlierPulls)
        }
        #expect(forecast([]).warnings.map(\.description) == warnings)
        #expect(forecast([99, 500]).warnings.map(\.description) == warnings)
        // Earlier runs of the series know the variants already.
        #expect(forecast([100, 500]).warnings.isEmpty)
    }
}
