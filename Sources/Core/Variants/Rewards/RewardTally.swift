package import Segments

/// The results of a campaign's variants and of its held-out devices.
///
/// A device counts as one pull, however many rounds the campaign has, and its first reward counts.
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

    /// What happened to a reward.
    package enum Verdict: Hashable, Sendable {
        case counted(VariantAssignment.Arm)
        /// An earlier reward of the device was counted.
        case repeated
        /// The campaign assigned no variant to the device.
        case unassigned
    }

    /// The variants in the campaign's order.
    package private(set) var variants: [Entry]
    package private(set) var holdout: Entry

    package init(variants names: [String]) {
        self.init(variants: names.map { Entry(name: $0) }, holdout: Entry(name: ""))
    }

    init(variants: [Entry], holdout: Entry) { (self.variants, self.holdout) = (variants, holdout) }

    /// Counts devices that were assigned. An index without a variant counts nothing.
    package mutating func addPulls(_ count: Int, to arm: VariantAssignment.Arm) {
        change(arm) { $0.adding(pulls: count) }
    }

    /// Counts a device's reward, if it is the first reward of a device with an assignment.
    /// - Parameters:
    ///   - reward: limited to 0...1, and rounded to thousandths; NaN counts as 0.
    ///   - rewarded: the devices of the chunk that have a counted reward.
    package mutating func count(
        _ reward: Double, of ordinal: UInt16, assignment: VariantAssignment, rewarded: inout OrdinalChunk
    ) -> Verdict {
        guard let arm = assignment[ordinal] else { return .unassigned }
        guard !rewarded[ordinal] else { return .repeated }
        rewarded[ordinal] = true
        let thousandths = Int64(clamping: (min(max(0, reward), 1) * 1000).rounded())
        change(arm) { $0.adding(thousandths: thousandths) }
        return .counted(arm)
    }

    /// Returns what an allocation needs, with the results of earlier runs of the series.
    /// - Parameter earlier: results count for the variant with the same name; other names are ignored.
    package func tallies(with earlier: RewardTally? = nil) -> [VariantTally] {
        variants.map { entry in
            let past = earlier?.variants.first { $0.name == entry.name }
            return VariantTally(
                pulls: entry.pulls.adding(saturating: past?.pulls ?? 0),
                rewards: entry.rewards + (past?.rewards ?? 0))
        }
    }

    /// Returns the results of a series after a run. Variants that the run does not have keep their results, but if
    /// there are more than `VariantAssignment.mostVariants`, the oldest of them are dropped.
    package func added(to earlier: RewardTally?) -> RewardTally {
        guard let earlier else { return self }
        func sum(_ entry: Entry, _ past: Entry?) -> Entry {
            past.map { entry.adding(pulls: $0.pulls, thousandths: $0.thousandths) } ?? entry
        }
        let present = variants.map { entry in sum(entry, earlier.variants.first { $0.name == entry.name }) }
        let absent = earlier.variants.filter { past in !variants.contains { $0.name == past.name } }
        return RewardTally(
            variants: Array((present + absent).prefix(clamping: VariantAssignment.mostVariants)),
            holdout: sum(holdout, earlier.holdout))
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
