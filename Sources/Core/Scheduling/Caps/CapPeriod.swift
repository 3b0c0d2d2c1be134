import PushModel

/// A period of the calendar in which a device gets a limited number of pushes.
package enum CapPeriod: String, CaseIterable, Hashable, Sendable {
    case hour
    case day
    /// An ISO 8601 week, which begins on Monday.
    case week

    /// One hour, day or week of a zone's calendar.
    package struct Bucket: Hashable, Sendable {
        /// The number of periods of this kind since 1970 in local time. The hour of 1970-01-01 00:00, that day, and its
        /// week have the number 0.
        package let number: Int64
        /// The first time of the period, which belongs to the period.
        package let start: UTCTime
        /// The end of the period, which does not belong to the period. Counters may expire at this time.
        package let end: UTCTime
    }

    private var seconds: Int64 {
        switch self {
        case .hour: 3600
        case .day: 86_400
        case .week: 7 * 86_400
        }
    }

    /// The seconds from the start of period 0 to 1970-01-01 00:00, which was a Thursday.
    private var secondsBefore1970: Int64 { self == .week ? 3 * 86_400 : 0 }

    /// Returns the time at which the period with a number has ended in all zones.
    package func latestEnd(of number: Int64) -> UTCTime {
        let end = number.adding(saturating: 1).multiplied(saturating: seconds) - secondsBefore1970
        return UTCTime(seconds: end.adding(saturating: LocalTimeType.longestOffset))
    }

    /// Returns the period to which a time belongs in a zone.
    ///
    /// When clocks are set back, the hour that they show twice is one longer period, so that a device does not get twice its
    /// cap. When clocks are set forward, the period with the gap is shorter.
    package func bucket(at time: UTCTime, in zone: TimeZoneRules) -> Bucket {
        let local = zone.localTime(at: time).seconds + secondsBefore1970
        let number = local.dividedDown(by: seconds).quotient
        let start = LocalTime(seconds: number * seconds - secondsBefore1970)
        // Use the last second of the period, not the first second of the next period: if clocks are set back, they may
        // show that first second before this period ends.
        let last = LocalTime(seconds: start.seconds + seconds - 1)
        let end =
            switch zone.occurrence(of: last) {
            case .skipped(let time): time
            case .once(let time), .twice(_, let time): time.adding(milliseconds: 1000)
            }
        return Bucket(number: number, start: zone.occurrence(of: start).first, end: end)
    }
}
