/// What is known of a variant: how often it was sent, and what came back.
package struct VariantTally: Equatable, Sendable {
    /// Pushes of this variant that were accepted.
    package var pulls: Int
    /// The sum of its rewards, each in 0...1.
    package var rewards: Double

    package init(pulls: Int = 0, rewards: Double = 0) {
        self.pulls = pulls
        self.rewards = rewards
    }

    /// Mean reward of a push; 0 before the first.
    package var estimate: Double { pulls == 0 ? 0 : rewards / Double(pulls) }

    package mutating func add(reward: Double) {
        pulls += 1
        rewards += reward
    }
}
