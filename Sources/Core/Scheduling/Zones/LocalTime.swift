package import PushModel

/// The date and the time of day that a clock shows in some zone, in whole seconds.
package struct LocalTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    private static let day: Int64 = 86_400

    /// The seconds from 1970-01-01 00:00 to this time, as if every day had 24 hours.
    package let seconds: Int64

    package init(seconds: Int64) { self.seconds = Int64(foreign: seconds) }

    /// - Parameter second: the seconds since midnight; 86,400 is the next midnight.
    package init(_ date: CivilDate, second: Int64 = 0) {
        self.init(seconds: (date.dayNumber.multiplied(saturating: Self.day)).adding(saturating: second))
    }

    package var date: CivilDate { CivilDate(dayNumber: seconds.dividedDown(by: Self.day).quotient) }

    /// The seconds since midnight, 0..<86,400.
    package var secondOfDay: Int64 { seconds.dividedDown(by: Self.day).remainder }

    package static func < (left: LocalTime, right: LocalTime) -> Bool { left.seconds < right.seconds }

    /// Date and time of day to the minute: `2026-01-31 09:05`.
    package var description: String {
        let minutes = secondOfDay / 60
        return "\(date) \(CivilDate.padded(minutes / 60, to: 2)):\(CivilDate.padded(minutes % 60, to: 2))"
    }
}
