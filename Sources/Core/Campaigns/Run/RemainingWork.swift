package import Scheduling

/// The pushes that a running campaign still has to send in its present rounds, and the time that is left for them.
package struct RemainingWork: Equatable, Sendable {
    /// The present round of a group that sends now.
    package struct Part: Equatable, Sendable {
        /// Tells which devices the part is about. While the section stays the same, the part's numbers can be compared.
        package struct Section: Equatable, Sendable {
            let group: Int
            let round: Int
            let stage: Int
            let sweeps: Int

            package init(group: Int, round: Int = 1, stage: Int = 0, sweeps: Int = 0) {
                (self.group, self.round, self.stage, self.sweeps) = (group, round, stage, sweeps)
            }
        }

        let section: Section
        /// The devices that still get the push of the round.
        let left: Int
        /// The devices of the round that got their push, or got none for a reason.
        let handled: Int
        /// The times at which the group may send, up to the end of its window.
        let allowed: TimeRangeSet
        /// The milliseconds of these times in which the campaign will wait after a stage.
        let waits: Int64

        package init(section: Section, left: Int, handled: Int, allowed: TimeRangeSet, waits: Int64 = 0) {
            (self.section, self.left, self.handled) = (section, left, handled)
            (self.allowed, self.waits) = (allowed, waits)
        }

        /// The end of the group's window.
        var end: UTCTime { allowed.ranges.last?.upperBound ?? UTCTime(milliseconds: .min) }
    }

    let parts: [Part]
    /// The highest rate in pushes a second that the campaign may have.
    let ceiling: Double
    /// Whether a group waits between two stages.
    let isBetweenStages: Bool

    package init(parts: [Part], ceiling: Double, isBetweenStages: Bool = false) {
        (self.parts, self.ceiling, self.isBetweenStages) = (parts, ceiling, isBetweenStages)
    }

    /// Whether a group sends now.
    package var isSending: Bool { !parts.isEmpty }
}
