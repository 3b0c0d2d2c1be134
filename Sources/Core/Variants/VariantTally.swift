/// The observed results of a variant: the number of its pushes and their rewards.
package struct VariantTally: Equatable, Sendable {
    /// The number of pushes, or of devices, with this variant.
    package var pulls: Int
    /// The sum of the variant's rewards, each in 0...1.
    package var rewards: Double

    package init(pulls: Int = 0, rewards: Double = 0) {
        self.pulls = pulls
        self.rewards = rewards
    }

    /// The mean reward of a push; 0 before the first push.
    package var estimate: Double { pulls == 0 ? 0 : rewards / Double(pulls) }

    package mutating func add(reward: Double) {
        pulls += 1
        rewards += reward
    }
}
