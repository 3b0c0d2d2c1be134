import PushModel

/// Plays an allocation many times against variants whose chances of a reward are known.
package struct BanditSimulation: Sendable {
    /// What came of it on average, push by push.
    package struct Course: Equatable, Sendable {
        /// How often the variant with the greatest chance was chosen, 0...1.
        package var bestChosen: [Double] = []
        /// Mean reward of a push.
        package var reward: [Double] = []
        /// Mean sum of the rewards up to and with a push.
        package var cumulativeReward: [Double] = []
    }

    private let chances: [Double]
    private let simulations: Int
    private let horizon: Int
    private let seed: UInt64

    /// - Parameters:
    ///   - chances: of a reward of 1, by variant, each in 0...1; at least one.
    ///   - simulations: how often it is played; at least 1.
    ///   - horizon: pushes of each game; at least 1.
    package init(chances: [Double], simulations: Int, horizon: Int, seed: UInt64) {
        precondition(!chances.isEmpty && simulations > 0 && horizon > 0, "nothing to simulate")
        self.chances = chances
        self.simulations = simulations
        self.horizon = horizon
        self.seed = seed
    }

    /// The same for the same seed. The choices of each game are random, and so are its rewards.
    package func course(of allocation: Allocation) -> Course {
        let greatest = chances.max() ?? 0
        var random = SeededRandom(seed: seed)
        var (best, rewards) = ([Int](repeating: 0, count: horizon), [Int](repeating: 0, count: horizon))
        for _ in 0..<simulations {
            var tallies = [VariantTally](repeating: VariantTally(), count: chances.count)
            for push in 0..<horizon {
                let choice = allocation.choice(of: tallies, using: &random)
                let isRewarded = random.fraction() < chances[choice]
                tallies[choice].add(reward: isRewarded ? 1 : 0)
                if chances[choice] == greatest { best[push] += 1 }
                if isRewarded { rewards[push] += 1 }
            }
        }
        var course = Course()
        var sum = 0.0
        for push in 0..<horizon {
            let reward = Double(rewards[push]) / Double(simulations)
            sum += reward
            course.bestChosen.append(Double(best[push]) / Double(simulations))
            course.reward.append(reward)
            course.cumulativeReward.append(sum)
        }
        return course
    }
}
