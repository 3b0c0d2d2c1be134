import PushModel

/// Minutes of the hour in which a campaign sends nothing, because other systems have the most work in these minutes.
///
/// The minutes are those of a zone's clocks. In India, for example, minute 0 is minute 30 of UTC.
package struct AvoidedMinutes: Hashable, Sendable {
    /// Bit n is set if minute n is avoided.
    private var bits: UInt64 = 0

    package static let none = AvoidedMinutes()

    private init() {}

    /// - Parameter minutes: numbers 0...59, but not all of them.
    package init(_ minutes: [Int]) throws(ScheduleError) {
        for minute in minutes {
            guard (0...59).contains(minute) else {
                throw ScheduleError(field: .avoid, reason: "\(minute) is not a minute of the hour, 0 to 59")
            }
            bits |= 1 << UInt64(minute)
        }
        guard bits.nonzeroBitCount < 60 else {
            throw ScheduleError(
                field: .avoid,
                reason: "the list has all minutes of the hour, so no minute is left for sending")
        }
    }

    package func contains(_ minute: Int) -> Bool {
        (0...59).contains(minute) && bits >> UInt64(minute) & 1 == 1
    }

    /// Returns the times of a range in which the zone's clocks show no avoided minute. Takes time in proportion to the hours of
    /// the range.
    package func allowedTimes(in range: Range<UTCTime>, zone: TimeZoneRules) -> TimeRangeSet {
        guard bits != 0, !range.isEmpty else { return TimeRangeSet([range]) }
        let runs = allowedRuns
        var parts: [Range<UTCTime>] = []
        var time = range.lowerBound
        while time < range.upperBound {
            let period = zone.period(at: time)
            let end = min(range.upperBound, UTCTime(seconds: period.seconds.upperBound))
            // Go through the hours that the clocks show in this period.
            var hour = (time.seconds + period.offset).dividedDown(by: 3600).quotient * 3600 - period.offset
            while UTCTime(seconds: hour) < end {
                for run in runs {
                    let part =
                        UTCTime(seconds: hour + run.lowerBound)..<UTCTime(seconds: hour + run.upperBound)
                    parts.append(part.clamped(to: time..<end))
                }
                hour += 3600
            }
            guard end > time else { break }
            time = end
        }
        return TimeRangeSet(parts)
    }

    /// The allowed parts of an hour, in seconds from the start of the hour.
    private var allowedRuns: [Range<Int64>] {
        var runs: [Range<Int64>] = []
        for minute in 0..<60 where !contains(minute) {
            let second = Int64(minute) * 60
            if let last = runs.last, last.upperBound == second {
                runs[runs.count - 1] = last.lowerBound..<second + 60
            } else {
                runs.append(second..<second + 60)
            }
        }
        return runs
    }
}
