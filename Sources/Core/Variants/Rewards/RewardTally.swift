/// The results of a campaign's variants and of its held-out devices.
///
/// A device counts as one pull, however many rounds the campaign has, and its first reward counts. The numbers are fields of a
/// hash in Redis, the campaign's record or the hash of its series, so that scripts add to them.
package struct RewardTally: Hashable, Sendable {
    /// The results of one variant, or of the held-out devices.
    package struct Entry: Hashable, Sendable {
        /// The name of the variant; empty for held-out devices.
        package let name: String
        /// The number of devices with this variant.
        package let pulls: Int
        /// The sum of the counted rewards in thousandths, so that the order of rewards does not change the sum.
        package let thousandths: Int64

        /// - Parameter name: the name of the variant; empty for held-out devices.
        package init(name: String, pulls: Int = 0, thousandths: Int64 = 0) {
            self.name = name
            // The limit for numbers from outside also holds for sums, so that a stored tally is readable.
            self.pulls = Int(foreign: max(0, pulls))
            self.thousandths = Int64(foreign: max(0, thousandths))
        }

        func adding(pulls: Int = 0, thousandths: Int64 = 0) -> Entry {
            Entry(
                name: name, pulls: self.pulls.adding(saturating: pulls),
                thousandths: self.thousandths.adding(saturating: thousandths))
        }

        package var rewards: Double { Double(thousandths) / 1000 }

        /// The mean reward of a device; 0 without devices.
        package var estimate: Double { VariantTally(pulls: pulls, rewards: rewards).estimate }

        /// The interval of the mean reward with a confidence of 95 %.
        package var interval: ScoreInterval { ScoreInterval(successes: rewards, trials: pulls) }
    }

    /// The variants in the campaign's order.
    package private(set) var variants: [Entry]
    package private(set) var holdout: Entry

    package init(variants names: [String]) {
        self.init(variants: names.map { Entry(name: $0) }, holdout: Entry(name: ""))
    }

    private init(variants: [Entry], holdout: Entry) { (self.variants, self.holdout) = (variants, holdout) }

    /// Adds to the devices and the rewards of a variant, or of the held-out devices. An index without a variant counts nothing.
    package mutating func add(pulls: Int = 0, thousandths: Int64 = 0, to arm: VariantAssignment.Arm) {
        change(arm) { $0.adding(pulls: pulls, thousandths: thousandths) }
    }

    /// What an allocation needs, in the order of ``variants``.
    package var tallies: [VariantTally] {
        variants.map { VariantTally(pulls: $0.pulls, rewards: $0.rewards) }
    }

    private mutating func change(_ arm: VariantAssignment.Arm, _ body: (Entry) -> Entry) {
        switch arm {
        case .holdout: holdout = body(holdout)
        case .variant(let index):
            guard variants.indices.contains(index) else { return }
            variants[index] = body(variants[index])
        }
    }
}
