import PushModel

/// The times at which a recurring campaign starts, such as `30 5 * * mon-sat`: minute, hour, day of the month, month, and day
/// of the week, in local time.
///
/// If the expression restricts both kinds of day, a day matches if either kind matches. A field with all values, such as `*` or
/// `1-31`, restricts nothing.
/// - Source: POSIX.1-2017, "crontab". Names and steps of ranges are additions to POSIX.
package struct CronExpression: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of an expression in bytes.
    package static let longest = 256
    /// The longest time between two matching days is eight years, from one 29 February to another across 1900 or 2100.
    private static let daysToSearch: Int64 = 9 * 366

    /// The text that was read.
    package let description: String
    private let minutes: CronValues
    private let hours: CronValues
    private let daysOfMonth: CronValues
    private let months: CronValues
    private let weekdays: CronValues

    /// Reads an expression. Names are not case-sensitive.
    package init(_ text: String) throws(CronError) {
        guard text.utf8.count <= Self.longest else {
            throw CronError(field: nil, text: "", position: Self.longest, fault: .tooLong)
        }
        let fields = text.split { $0 == " " || $0 == "\t" }
        guard fields.count == CronField.allCases.count else {
            throw CronError(field: nil, text: "", position: 0, fault: .fields(fields.count))
        }
        func values(_ index: Int) throws(CronError) -> CronValues {
            let position = text.utf8.distance(from: text.startIndex, to: fields[index].startIndex)
            return try CronValues(fields[index], of: CronField.allCases[index], at: position)
        }
        description = text
        minutes = try values(0)
        hours = try values(1)
        daysOfMonth = try values(2)
        months = try values(3)
        weekdays = try values(4)
        guard weekdays.isRestricted || hasPossibleDate else {
            let position = text.utf8.distance(from: text.startIndex, to: fields[2].startIndex)
            throw CronError(
                field: .dayOfMonth, text: String(fields[2]), position: position, fault: .impossibleDate)
        }
    }

    /// Whether a month has a day of the month; February may have 29 days.
    private var hasPossibleDate: Bool {
        (1...12).contains { month in
            months.contains(month)
                && (daysOfMonth.first(from: 1) ?? 32) <= CivilDate.length(ofMonth: month, in: 2000)
        }
    }

    /// Returns the next start after a time.
    ///
    /// Each local time of the expression starts a campaign once. A local time that the clocks skip starts at the first time
    /// after the gap. A local time that the clocks show twice starts at its first occurrence. Several local times of
    /// one gap cause one start.
    /// - Returns: nil only for a zone whose clocks change in a way that no real zone does.
    package func next(after time: UTCTime, in zone: TimeZoneRules) -> UTCTime? {
        // A later local time never occurs earlier, so the search begins after the present local time.
        var minute = zone.localTime(at: time).seconds.dividedDown(by: 60).quotient + 1
        // Clocks that are set back repeat at most 52 hours of local times. A match in these hours may be a time that
        // has already passed.
        for _ in 0..<52 * 60 {
            guard let match = nextMatch(from: minute) else { return nil }
            let start = zone.occurrence(of: LocalTime(seconds: match * 60)).first
            if start > time { return start }
            minute = match + 1
        }
        return nil
    }

    /// Returns the first local time of the expression at or after `minute`. Both are minutes since 1970-01-01 00:00.
    private func nextMatch(from minute: Int64) -> Int64? {
        var (day, minuteOfDay) = minute.dividedDown(by: 1440)
        let end = day + Self.daysToSearch
        while day < end {
            let date = CivilDate(dayNumber: day)
            if months.contains(date.month) {
                if isMatch(date), let match = firstMinute(from: Int(minuteOfDay)) {
                    return day * 1440 + Int64(match)
                }
                day += 1
            } else {
                day += Int64(CivilDate.length(ofMonth: date.month, in: date.year) - date.day + 1)
            }
            minuteOfDay = 0
        }
        return nil
    }

    private func isMatch(_ date: CivilDate) -> Bool {
        let isDay = daysOfMonth.contains(date.day)
        let isWeekday = weekdays.contains(date.weekday % 7)
        return daysOfMonth.isRestricted && weekdays.isRestricted ? isDay || isWeekday : isDay && isWeekday
    }

    /// Returns the first selected minute of a day that is at least `minute`.
    private func firstMinute(from minute: Int) -> Int? {
        let (hour, inHour) = (minute / 60, minute % 60)
        if hours.contains(hour), let match = minutes.first(from: inHour) { return hour * 60 + match }
        guard let next = hours.first(from: hour + 1), let match = minutes.first(from: 0) else { return nil }
        return next * 60 + match
    }
}
