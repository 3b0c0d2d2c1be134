import POSIX

/// A moment of the wall clock, written as RFC 3339 in UTC with milliseconds: `2026-01-31T09:05:00.123Z`.
package struct Timestamp: Sendable, Equatable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01 UTC.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    package var description: String {
        let (days, rest) = Self.floorDivide(milliseconds, by: 86_400_000)
        let (year, month, day) = Self.date(ofDay: days)
        let seconds = rest / 1000
        var text = ""
        text.reserveCapacity(24)
        Self.append(year, width: 4, to: &text)
        text += "-"
        Self.append(month, width: 2, to: &text)
        text += "-"
        Self.append(day, width: 2, to: &text)
        text += "T"
        Self.append(seconds / 3600, width: 2, to: &text)
        text += ":"
        Self.append(seconds / 60 % 60, width: 2, to: &text)
        text += ":"
        Self.append(seconds % 60, width: 2, to: &text)
        text += "."
        Self.append(rest % 1000, width: 3, to: &text)
        text += "Z"
        return text
    }

    /// The civil date of a day counted from 1970-01-01. Source: Howard Hinnant, "chrono-compatible low-level date
    /// algorithms", `civil_from_days`.
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivide(day + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func floorDivide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64)
    {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func append(_ value: Int64, width: Int, to text: inout String) {
        let digits = String(value)
        for _ in digits.utf8.count..<max(width, digits.utf8.count) { text += "0" }
        text += digits
    }
}
