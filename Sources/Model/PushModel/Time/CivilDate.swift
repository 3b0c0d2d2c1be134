/// A day of the Gregorian calendar. Days before the introduction of this calendar (1582) also follow its rules.
package struct CivilDate: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let year: Int64
    /// The month, 1...12.
    package let month: Int
    /// The day of the month, 1...31.
    package let day: Int

    private static let daysPerEra: Int64 = 146_097
    /// The number of days from 0000-03-01 to 1970-01-01.
    private static let daysBefore1970: Int64 = 719_468
    /// The greatest absolute value of the arguments `dayNumber` and `year` of the initializers.
    private static let limit: Int64 = 1 << 40

    /// - Returns: nil if there is no such day, such as 30 February.
    package init?(year: Int64, month: Int, day: Int) {
        guard year.magnitude <= Self.limit.magnitude, (1...12).contains(month),
            (1...Self.length(ofMonth: month, in: year)).contains(day)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Creates the day that is `dayNumber` days after 1970-01-01.
    ///
    /// A number above 2^40 counts as 2^40, and a number below -2^40 counts as -2^40.
    ///
    /// - Source: Howard Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`.
    package init(dayNumber: Int64) {
        let number = min(max(dayNumber, -Self.limit), Self.limit)
        let (era, dayOfEra) = (number + Self.daysBefore1970).dividedDown(by: Self.daysPerEra)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        month = Int(shifted < 10 ? shifted + 3 : shifted - 9)
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = Int(dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    /// The number of days since 1970-01-01; negative for earlier days.
    ///
    /// - Source: Howard Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`.
    package var dayNumber: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).dividedDown(by: 400)
        let dayOfYear = Int64((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysPerEra + dayOfEra - Self.daysBefore1970
    }

    /// The day of the week: 1 is Monday, and 7 is Sunday.
    package var weekday: Int { Int((dayNumber + 3).dividedDown(by: 7).remainder) + 1 }

    /// The ISO 8601 week, with the year that the week belongs to. For some days around 1 January, this year is not ``year``.
    package var isoWeek: (year: Int64, week: Int) {
        // ISO 8601 assigns a week to the year that contains the Thursday of the week.
        let thursday = CivilDate(dayNumber: dayNumber + Int64(4 - weekday))
        return (thursday.year, Int(thursday.dayOfYear - 1) / 7 + 1)
    }

    /// The number of the day in its year; 1 January has the number 1.
    package var dayOfYear: Int64 {
        let past = year - 1
        let newYear =
            past * 365 + past.dividedDown(by: 4).quotient - past.dividedDown(by: 100).quotient
            + past.dividedDown(by: 400).quotient - Self.daysBefore1970 + 306
        return dayNumber - newYear + 1
    }

    /// Returns the number of days of a month; the month is 1...12.
    package static func length(ofMonth month: Int, in year: Int64) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    package static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    package static func < (left: CivilDate, right: CivilDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// The date in the form of ISO 8601: `2026-01-31`.
    package var description: String {
        "\(Self.padded(year, to: 4))-\(Self.padded(Int64(month), to: 2))-\(Self.padded(Int64(day), to: 2))"
    }

    /// Returns a number as text. If the text has fewer than `width` characters, zeros precede the number.
    package static func padded(_ value: Int64, to width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension Int64 {
    /// Divides by a positive number, and rounds the quotient down, so that the remainder is never negative.
    package func dividedDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
