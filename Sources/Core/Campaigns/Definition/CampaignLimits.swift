package import Scheduling

/// What limits a campaign beside its schedule.
package struct CampaignLimits: Hashable, Sendable {
    /// At most this number of pushes a device in each period of the calendar, over all campaigns of the category.
    package struct Cap: Hashable, Sendable {
        /// 1...``greatestCap``.
        package let pushes: Int
        package let period: CapPeriod
    }

    /// The time of day, in the device's zone, in which no push is sent.
    package struct Quiet: Hashable, Sendable {
        package let from: TimeOfDay
        package let to: TimeOfDay
    }

    /// The largest number of pushes of a cap, because a counter has four bits.
    package static let greatestCap = 15

    /// The category whose campaigns share caps; nil for the category of all campaigns without one.
    package let category: String?
    package let caps: [Cap]
    package let quiet: Quiet?
    /// The campaign pauses when more than this share of its last pushes failed; a fraction above 0 and at most 1.
    package let stopAt: Double?

    /// The share above which the campaign pauses: ``stopAt``, or 0.2.
    package var stopShare: Double { stopAt ?? 0.2 }
}
