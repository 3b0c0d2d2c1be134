package import PushModel

/// A time of day to the minute, 00:00 to 24:00.
package struct TimeOfDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let minutes: Int

    package static let midnight = TimeOfDay(minutes: 0)

    private init(minutes: Int) { self.minutes = minutes }

    /// Reads a text such as `05:30`. `24:00` is the end of the day.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 2, parts[1].utf8.count == 2,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: ":")).contains($0) }),
            let hour = Int(foreign: parts[0]), let minute = Int(foreign: parts[1]), minute < 60
        else { return nil }
        guard hour < 24 || hour == 24 && minute == 0 else { return nil }
        minutes = hour * 60 + minute
    }

    package static func < (left: TimeOfDay, right: TimeOfDay) -> Bool { left.minutes < right.minutes }

    package var description: String {
        "\(CivilDate.padded(Int64(minutes / 60), to: 2)):\(CivilDate.padded(Int64(minutes % 60), to: 2))"
    }
}

/// The part of the day in which a campaign may send, such as 05:00 to 07:00.
///
/// If the end is not after the start, the window ends on the next day. A time that clocks skip or show twice counts as
/// ``TimeZoneRules`` says: the first time after a gap, or the first of two times.
package struct CampaignWindow: Hashable, Sendable, CustomStringConvertible {
    /// Whose clocks the window follows.
    package enum Zone: Hashable, Sendable {
        /// Each device's own zone.
        case device
        /// One zone for all devices.
        case named(String)
    }

    package let from: TimeOfDay
    package let to: TimeOfDay
    package let zone: Zone

    package init(from: TimeOfDay, to: TimeOfDay, zone: Zone) throws(ScheduleError) {
        guard from != to else {
            throw ScheduleError(
                field: .window, reason: "the window starts and ends at \(from), so it contains no time")
        }
        (self.from, self.to, self.zone) = (from, to, zone)
    }

    /// Returns the times of the window that starts on a date. Empty if the clocks skip the whole window.
    package func times(on date: CivilDate, in zone: TimeZoneRules) -> Range<UTCTime> {
        func time(_ timeOfDay: TimeOfDay, after days: Int64) -> UTCTime {
            let date = CivilDate(dayNumber: date.dayNumber + days)
            return zone.occurrence(of: LocalTime(date, second: Int64(timeOfDay.minutes) * 60)).first
        }
        let start = time(from, after: 0)
        return start..<max(start, time(to, after: from < to ? 0 : 1))
    }

    package var description: String { "\(from)–\(to)" }
}
