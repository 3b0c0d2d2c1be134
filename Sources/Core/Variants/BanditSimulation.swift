import PushModel

/// Simulates an allocation many times with variants whose reward probabilities are known.
package struct BanditSimulation: Sendable {
    /// The mean results of all simulations, for each push.
    package struct MeanResults: Equatable, Sendable {
        /// For each push, the share of simulations (0...1) that chose the variant with the greatest probability.
        package var bestChosen: [Double] = []
        /// The mean reward of each push.
        package var reward: [Double] = []
        /// The mean sum of rewards up to and including each push.
        package var cumulativeReward: [Double] = []
    }

    private let chances: [Double]
    private let simulations: Int
    private let horizon: Int
    private let seed: UInt64

    /// - Parameters:
    ///   - chances: the probability of a reward of 1 for each variant, in 0...1; at least one variant.
    ///   - simulations: the number of simulations; at least 1.
    ///   - horizon: the number of pushes per simulation; at least 1.
    package init(chances: [Double], simulations: Int, horizon: Int, seed: UInt64) {
        precondition(!chances.isEmpty && simulations > 0 && horizon > 0, "nothing to simulate")
        self.chances = chances
        self.simulations = simulations
        self.horizon = horizon
        self.seed = seed
    }

    /// Runs the simulations. Choices and rewards are random, but the same seed gives the same result.
    package func course(of allocation: Allocation) -> MeanResults {
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
        var course = MeanResults()
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
