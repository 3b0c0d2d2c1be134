package import Variants

/// The variants of a campaign's message, and how devices are divided among them.
package struct CampaignVariants: Hashable, Sendable {
    package struct Variant: Hashable, Sendable {
        package let name: String
        /// The range of the variant's payload in the definition.
        package let payload: Range<Int>
    }

    /// A first part of the audience that gets all variants evenly, and the time in which its rewards arrive.
    package struct Exploration: Hashable, Sendable {
        /// A fraction of the audience, above 0 and at most 1.
        package let share: Double
        /// In milliseconds.
        package let wait: Int64
    }

    /// The allowed numbers of variants.
    package static let counts = 2...14

    package let variants: [Variant]
    package let allocation: Allocation
    package let exploration: Exploration?
    /// The fraction of the audience that gets no push, 0 or more and below 1.
    package let holdout: Double
}
