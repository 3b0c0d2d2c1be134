/// Decides when a merge group sends its next round, and which campaigns are in the round.
///
/// A group has one clock for all its campaigns, so that two pushes to a device are at least ``every`` apart.
package struct MergeClock: Hashable, Sendable {
    /// The time between two pushes if no campaign of the group repeats, in milliseconds: 20 minutes, because devices get
    /// at most two or three background pushes an hour.
    package static let defaultEvery: Int64 = 20 * 60_000

    /// A campaign of the group.
    package struct Entry: Hashable, Sendable {
        package let startsAt: UTCTime
        /// When the campaign's next round is due; its start if it has sent no round.
        package let dueAt: UTCTime

        package init(startsAt: UTCTime, dueAt: UTCTime) { (self.startsAt, self.dueAt) = (startsAt, dueAt) }
    }

    /// The least time between two pushes of the group to a device, in milliseconds: the time between two rounds of the
    /// campaign that repeats most often.
    package let every: Int64

    /// - Parameter every: the time between two rounds of each campaign that repeats, in milliseconds.
    package init(every: some Sequence<Int64>) { self.every = max(1, every.min() ?? Self.defaultEvery) }

    /// Returns the start of the group's next round: the earliest time at which a campaign is due, but at least
    /// ``every`` after the group's last round.
    /// - Returns: nil if no campaign has a further round.
    package func nextRound(of entries: some Sequence<Entry>, last: UTCTime?) -> UTCTime? {
        guard let due = entries.map({ max($0.startsAt, $0.dueAt) }).min() else { return nil }
        return last.map { max(due, $0.adding(milliseconds: every)) } ?? due
    }

    /// Whether a campaign is in the round that starts at a time. A campaign is in the round if the campaign has started, and if
    /// its next round is due before the middle of the time to the group's next round.
    package func isDue(_ entry: Entry, inRoundAt round: UTCTime) -> Bool {
        entry.startsAt <= round && entry.dueAt <= round.adding(milliseconds: every / 2)
    }
}
