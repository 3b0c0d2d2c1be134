import Segments

/// Which bitmaps of the attribute `seen` a partition has.
///
/// Recent days have one bitmap for each day. Earlier days are folded: they have one bitmap for each week. The bitmaps of days that
/// were folded stay for ``keptSeconds``, because a reader may still have the partition's old state. Nothing changes these bitmaps.
package struct SeenBitmaps: Equatable, Sendable {
    /// The number of days, counted from today, that always have their own bitmaps.
    package static let days = 35
    /// How long the bitmaps of folded days stay. A reader uses the state of a partition for a few seconds.
    package static let keptSeconds: Int64 = 3600

    package static let firstDayField = "seen_first"
    static let keptDayField = "seen_kept"
    static let foldedField = "seen_folded"

    /// The first day with its own bitmap, as a number of days since 1970 in UTC: a Monday, or 0 before the first fold.
    let firstDay: Int
    /// The first day whose bitmap may still exist, at most ``firstDay``.
    let keptDay: Int
    /// The time of the last fold in Unix seconds.
    let folded: Int64

    /// - Parameters:
    ///   - firstDay: the first day with its own bitmap; 0 if no day was folded.
    ///   - keptDay: the first day whose bitmap may still exist.
    ///   - folded: the time of the last fold in Unix seconds.
    package init(firstDay: Int = 0, keptDay: Int = 0, folded: Int64 = 0) {
        (self.firstDay, self.keptDay, self.folded) = (firstDay, min(keptDay, firstDay), folded)
    }

    /// The name of the attribute of a device that was last seen on this day.
    func name(ofDay day: Int) -> AttributeName {
        day >= firstDay ? .seen(day: day) : .seen(week: SeenWeek(of: day))
    }

    /// Whether the bitmap of the name is an unused copy, whose bits need not agree with the records.
    func isCopy(_ name: AttributeName) -> Bool {
        guard let day = name.seenDay else { return false }
        return day >= keptDay && day < firstDay
    }
}
