package import Variants

/// The variants of a campaign's message, and how devices are divided among them.
package struct CampaignVariants: Hashable, Sendable {
    package struct Variant: Hashable, Sendable {
        package let name: String
        /// The range of the variant's payload in the definition.
        package let payload: Range<Int>
    }

    /// The allowed numbers of variants.
    package static let counts = 2...VariantAssignment.mostVariants

    package let variants: [Variant]
    /// The allocation and the exploration. The exploration is also the first stage of the campaign's schedule.
    package let policy: LearningPolicy
    /// The fraction of the audience that gets no push, 0 or more and below 1.
    package let holdout: Double

    package var names: [String] { variants.map(\.name) }

    /// The languages under which the campaign's jobs have the variants: a job has one payload for each language, so a job can
    /// have all variants of a step.
    package static func language(ofVariant index: Int) -> String { "v\(index + 1)" }

    /// Whether earlier campaigns of the series have shown enough about each variant, so that no exploration is needed.
    /// - Parameter earlier: the results of the series.
    package func isKnown(from earlier: RewardTally) -> Bool {
        earlier.variants.count == variants.count
            && earlier.variants.allSatisfy { $0.pulls >= LearningForecast.leastDevices }
    }
}
