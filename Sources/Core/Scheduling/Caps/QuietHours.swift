import PushModel

/// The part of the day in which devices get no push, such as 22:00 to 07:00 of each device's clocks.
///
/// The clocks alone decide: if clocks are set back, both passes of a repeated hour can be quiet.
package struct QuietHours: Hashable, Sendable, CustomStringConvertible {
    private static let day: Int64 = 86_400

    /// The first quiet minute.
    package let from: TimeOfDay
    /// The first minute after the quiet time. If ``from`` is later than ``to``, the quiet time ends on the next day.
    package let to: TimeOfDay

    package init(from: TimeOfDay, to: TimeOfDay) throws(ScheduleError) {
        guard from.minutes % 1440 != to.minutes % 1440 else {
            throw ScheduleError(
                field: .quiet, reason: "from \(from) to \(to) is no time or the whole day")
        }
        (self.from, self.to) = (from, to)
    }

    /// Whether the clocks of a zone show a quiet time.
    package func contains(_ time: UTCTime, in zone: TimeZoneRules) -> Bool {
        let second = zone.localTime(at: time).secondOfDay
        let (start, end) = (Self.second(of: from), Self.second(of: to))
        return start < end ? second >= start && second < end : second >= start || second < end
    }

    /// Returns the first time, at `time` or later, that is not quiet.
    package func end(at time: UTCTime, in zone: TimeZoneRules) -> UTCTime {
        contains(time, in: zone) ? change(after: time, in: zone) : time
    }

    /// Returns the quiet times of a range. Takes time in proportion to the days of the range.
    package func quietTimes(in range: Range<UTCTime>, zone: TimeZoneRules) -> TimeRangeSet {
        var parts: [Range<UTCTime>] = []
        var time = range.lowerBound
        while time < range.upperBound {
            let change = min(self.change(after: time, in: zone), range.upperBound)
            guard change > time else { break }
            if contains(time, in: zone) { parts.append(time..<change) }
            time = change
        }
        return TimeRangeSet(parts)
    }

    /// Returns the first later time at which a quiet time begins or ends.
    private func change(after time: UTCTime, in zone: TimeZoneRules) -> UTCTime {
        let isQuiet = contains(time, in: zone)
        let target = Self.second(of: isQuiet ? to : from)
        var second = time.seconds
        while true {
            let period = zone.period(at: UTCTime(seconds: second))
            let local = second + period.offset
            // The wait is 1 second to 24 hours. It is 24 hours if the clocks were set back and show the target now.
            let wait = (target - local - 1).dividedDown(by: Self.day).remainder + 1
            guard second + wait >= period.seconds.upperBound else { return UTCTime(seconds: second + wait) }
            second = period.seconds.upperBound
            let end = UTCTime(seconds: second)
            if contains(end, in: zone) != isQuiet { return end }
        }
    }

    /// The second of the day, 0..<86,400; 24:00 is the midnight that begins the next day.
    private static func second(of time: TimeOfDay) -> Int64 { Int64(time.minutes % 1440) * 60 }

    package var description: String { "\(from)–\(to)" }
}
