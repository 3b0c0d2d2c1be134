import PushModel

/// How a campaign with variants learns: the allocation, and the first part of the audience that explores.
package struct LearningPolicy: Hashable, Sendable {
    /// A first share of the audience that gets all variants evenly, and the wait for its rewards.
    package struct Exploration: Hashable, Sendable {
        /// The share of the audience, above 0 and below 1.
        package let share: Double
        /// The milliseconds from the end of the exploration to the next push.
        package let wait: Int64

        package init(share: Double, wait: Int64) { (self.share, self.wait) = (share, wait) }

        /// The number of devices that explore; at least 1.
        func devices(of audience: Int) -> Int {
            max(1, Int(clamping: (Double(audience) * share).rounded(.up)))
        }
    }

    package let allocation: Allocation
    package let exploration: Exploration?

    package init(allocation: Allocation, exploration: Exploration?) {
        (self.allocation, self.exploration) = (allocation, exploration)
    }

    /// Returns the share of each variant for a step of the campaign, with the sum 1. Empty without variants.
    /// - Parameters:
    ///   - isExploring: whether the step belongs to the exploration, whose shares are even.
    ///   - tallies: the results of each variant.
    ///   - seed: equal seeds give equal shares; ``seed(campaign:step:)`` gives one for each step.
    package func shares(isExploring: Bool, tallies: [VariantTally], seed: UInt64) -> [Double] {
        var random = SeededRandom(seed: seed)
        return (isExploring ? .even : allocation).shares(of: tallies, using: &random)
    }

    /// Returns a seed for the shares of one step of a campaign.
    package static func seed(campaign: String, step: Int) -> UInt64 {
        XXH64.hash(Array(campaign.utf8), seed: UInt64(clamping: step))
    }
}
