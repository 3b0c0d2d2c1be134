import PushModel

/// The rule of a zone for all years, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
///
/// Offsets count hours west of UTC, so Berlin has -1. Daylight-saving time may be behind standard time, as in Dublin's
/// rule `IST-1GMT0,M10.5.0,M3.5.0/1`.
/// - Source: POSIX.1-2017, section 8.3, "TZ"; RFC 8536, section 3.3.1, which allows times of day of ±167 hours.
struct POSIXTimeZone: Hashable, Sendable {
    let standard: LocalTimeType
    /// Nil if the zone has the same offset all year.
    let daylight: Daylight?

    struct Daylight: Hashable, Sendable {
        let type: LocalTimeType
        /// When daylight-saving time starts, in standard time.
        let start: YearlyTime
        /// When daylight-saving time ends, in daylight-saving time.
        let end: YearlyTime
    }

    /// - Returns: nil if the text is not a TZ string. Daylight-saving time without dates is an error, too.
    init?(_ text: ArraySlice<UInt8>) {
        var reader = POSIXRuleReader(text)
        guard let name = reader.name(), let offset = reader.offset() else { return nil }
        standard = LocalTimeType(offset: offset, isDaylightSaving: false, abbreviation: name)
        guard !reader.isAtEnd else {
            daylight = nil
            return
        }
        guard let name = reader.name() else { return nil }
        var saving = offset + 3600
        if !reader.isAt(",") {
            guard let written = reader.offset() else { return nil }
            saving = written
        }
        guard let start = reader.yearlyTime(), let end = reader.yearlyTime(), reader.isAtEnd else {
            return nil
        }
        daylight = Daylight(
            type: LocalTimeType(offset: saving, isDaylightSaving: true, abbreviation: name), start: start,
            end: end)
    }

    /// Returns the changes of a year in seconds since 1970. If daylight-saving time ends and starts at the same time,
    /// as in a rule that has it all year, the start comes second, so that it takes effect.
    func changes(in year: Int64) -> [(time: Int64, type: LocalTimeType)] {
        guard let daylight else { return [] }
        return [
            (daylight.end.localSeconds(in: year) - daylight.type.offset, standard),
            (daylight.start.localSeconds(in: year) - standard.offset, daylight.type),
        ]
    }
}

/// A time that recurs each year, in seconds of local time.
struct YearlyTime: Hashable, Sendable {
    enum Day: Hashable, Sendable {
        /// The day of the year, 1...365, in a count that omits 29 February.
        case julian(Int)
        /// The day of the year, 0...365, in a count that includes 29 February.
        case ofYear(Int)
        /// The weekday (0 is Sunday) in a week (5 is the last) of a month.
        case ofWeek(month: Int, week: Int, weekday: Int)
    }

    let day: Day
    /// Seconds from the day's midnight, within ±167 hours and 59 minutes.
    let time: Int64

    /// The seconds from 1970-01-01 00:00 in local time.
    func localSeconds(in year: Int64) -> Int64 {
        let month = if case .ofWeek(let month, _, _) = day { month } else { 1 }
        let first = CivilDate(year: year, month: month, day: 1)?.dayNumber ?? 0
        let number: Int64
        switch day {
        case .julian(let day): number = first + Int64(CivilDate.isLeap(year) && day >= 60 ? day : day - 1)
        case .ofYear(let day): number = first + Int64(day)
        case .ofWeek(let month, let week, let weekday):
            let toWeekday = (Int64(weekday) - first - 4).dividedDown(by: 7).remainder
            let inMonth = Int(toWeekday) + 7 * (week - 1)
            let isBeyond = inMonth >= CivilDate.length(ofMonth: month, in: year)
            number = first + Int64(isBeyond ? inMonth - 7 : inMonth)
        }
        return number * 86_400 + time
    }
}

/// Reads the parts of a TZ string in order.
private struct POSIXRuleReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) { rest = text }

    var isAtEnd: Bool { rest.isEmpty }

    func isAt(_ character: Unicode.Scalar) -> Bool { rest.first == UInt8(ascii: character) }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard isAt(character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Reads a name of letters, or a name of letters, digits and signs between `<` and `>`.
    mutating func name() -> String? {
        let isQuoted = take("<")
        let name = rest.prefix {
            switch $0 {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"): isQuoted
            default: false
            }
        }
        guard (3...32).contains(name.count) else { return nil }
        rest = rest.dropFirst(name.count)
        guard !isQuoted || take(">") else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    /// Reads an offset, and returns the seconds east of UTC.
    mutating func offset() -> Int64? { time(mostHours: 24).map { -$0 } }

    /// Reads a comma, a day, and an optional time of day, which is 02:00 by default.
    mutating func yearlyTime() -> YearlyTime? {
        guard take(","), let day = day() else { return nil }
        guard take("/") else { return YearlyTime(day: day, time: 7200) }
        return time(mostHours: 167).map { YearlyTime(day: day, time: $0) }
    }

    private mutating func day() -> YearlyTime.Day? {
        if take("J") { return number(in: 1...365).map { .julian($0) } }
        guard take("M") else { return number(in: 0...365).map { .ofYear($0) } }
        guard let month = number(in: 1...12), take("."), let week = number(in: 1...5), take("."),
            let weekday = number(in: 0...6)
        else { return nil }
        return .ofWeek(month: month, week: week, weekday: weekday)
    }

    /// Reads hours, and optionally minutes and seconds, with an optional sign.
    private mutating func time(mostHours: Int) -> Int64? {
        let isNegative = take("-")
        if !isNegative { _ = take("+") }
        guard let hours = number(in: 0...mostHours) else { return nil }
        var seconds = hours * 3600
        for unit in [60, 1] {
            guard take(":") else { break }
            guard let part = number(in: 0...59) else { return nil }
            seconds += part * unit
        }
        return Int64(isNegative ? -seconds : seconds)
    }

    private mutating func number(in range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard (1...3).contains(digits.count), let number = Int(foreign: digits), range.contains(number) else {
            return nil
        }
        rest = rest.dropFirst(digits.count)
        return number
    }
}
