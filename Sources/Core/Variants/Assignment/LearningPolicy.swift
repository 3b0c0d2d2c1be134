import PushModel
package import Scheduling

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

    /// What the campaign does at a time.
    package enum Phase: Hashable, Sendable {
        /// The next `devices` devices get all variants evenly.
        case explore(devices: Int)
        /// The campaign sends nothing until a time, because rewards of the exploration are still arriving.
        case wait(until: UTCTime)
        /// Devices get variants in the shares of the allocation.
        case learn
    }

    package let allocation: Allocation
    package let exploration: Exploration?

    package init(allocation: Allocation, exploration: Exploration?) {
        (self.allocation, self.exploration) = (allocation, exploration)
    }

    /// Returns what the campaign does now.
    /// - Parameters:
    ///   - assigned: the number of devices that have a variant or are held out.
    ///   - explored: when the last exploring device was assigned, as the campaign's record says; nil if the record
    ///     has no time yet. If the exploration is complete, the caller stores `now` as this time.
    package func phase(assigned: Int, audience: Int, explored: UTCTime?, now: UTCTime) -> Phase {
        guard let exploration else { return .learn }
        let devices = exploration.devices(of: audience)
        if assigned < devices { return .explore(devices: devices - assigned) }
        let end = (explored ?? now).adding(milliseconds: exploration.wait)
        return now < end ? .wait(until: end) : .learn
    }

    /// Returns the share of each variant for a step of the campaign, with the sum 1. Empty without variants.
    /// - Parameters:
    ///   - tallies: the results of each variant.
    ///   - seed: equal seeds give equal shares; ``seed(campaign:step:)`` gives one for each step.
    package func shares(in phase: Phase, tallies: [VariantTally], seed: UInt64) -> [Double] {
        var random = SeededRandom(seed: seed)
        return switch phase {
        case .explore, .wait: Allocation.even.shares(of: tallies, using: &random)
        case .learn: allocation.shares(of: tallies, using: &random)
        }
    }

    /// Returns a seed for the shares of one step of a campaign.
    package static func seed(campaign: String, step: Int) -> UInt64 {
        XXH64.hash(Array(campaign.utf8), seed: UInt64(clamping: step))
    }
}
