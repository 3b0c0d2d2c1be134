/// The rules of a time zone: its offset from UTC at any time.
///
/// All members are pure and take time in proportion to the logarithm of the number of changes, unless they say otherwise.
package struct TimeZoneRules: Hashable, Sendable {
    /// The name in the time zone database, such as `Europe/Berlin`.
    package let name: String
    private let file: TZifFile

    /// Reads the rules from the bytes of a file such as `/usr/share/zoneinfo/Europe/Berlin`.
    package init(name: String, bytes: [UInt8]) throws(TimeZoneError) {
        self.name = name
        file = try TZifFile(bytes)
    }

    /// A time during which the offset from UTC is constant.
    package struct Period: Hashable, Sendable {
        /// In seconds since 1970. An end at ±2^48 means that the period has no end.
        package let seconds: Range<Int64>
        /// The seconds to add to UTC.
        package let offset: Int64
        package let isDaylightSaving: Bool
        /// The abbreviation, such as `CEST` or `+01`.
        package let abbreviation: String

        static let limit: Int64 = 1 << 48

        init(_ start: Int64, _ end: Int64, _ type: LocalTimeType) {
            seconds = start..<max(start, end)
            (offset, isDaylightSaving) = (type.offset, type.isDaylightSaving)
            abbreviation = type.abbreviation
        }
    }

    /// The times at which a zone's clocks show a local time.
    package enum Occurrence: Hashable, Sendable {
        case once(UTCTime)
        /// The clocks were set back, and show the local time a second time.
        case twice(first: UTCTime, second: UTCTime)
        /// The clocks were set forward, and skip the local time.
        case skipped(resumeAt: UTCTime)

        /// The first time; for a skipped local time, the first time after the gap.
        package var first: UTCTime {
            switch self {
            case .once(let time), .twice(let time, _), .skipped(let time): time
            }
        }

        /// The last time; for a skipped local time, the first time after the gap.
        package var last: UTCTime {
            switch self {
            case .once(let time), .twice(_, let time), .skipped(let time): time
            }
        }
    }

    /// Returns the local time, rounded down to a second.
    package func localTime(at time: UTCTime) -> LocalTime {
        LocalTime(seconds: time.seconds + period(at: time).offset)
    }

    package func period(at time: UTCTime) -> Period { period(atSecond: time.seconds) }

    /// Returns when the clocks of the zone show a local time. Takes time in proportion to the number of changes within 52 hours.
    package func occurrence(of local: LocalTime) -> Occurrence {
        var period = period(atSecond: local.seconds - LocalTimeType.longestOffset)
        var (first, gapEnd): (UTCTime?, UTCTime?)
        while true {
            let second = local.seconds - period.offset
            if period.seconds.contains(second) {
                let time = UTCTime(seconds: second)
                if let first { return .twice(first: first, second: time) }
                first = time
            } else if second < period.seconds.lowerBound {
                // The local time is before all local times of this period.
                if let first { return .once(first) }
                gapEnd = gapEnd ?? UTCTime(seconds: period.seconds.lowerBound)
            }
            guard period.seconds.upperBound < Period.limit,
                period.seconds.upperBound <= local.seconds + LocalTimeType.longestOffset
            else { return first.map { .once($0) } ?? .skipped(resumeAt: gapEnd ?? UTCTime(seconds: second)) }
            period = self.period(atSecond: period.seconds.upperBound)
        }
    }

    // MARK: Periods

    private func period(atSecond wanted: Int64) -> Period {
        let second = min(max(wanted, -Period.limit), Period.limit - 1)
        guard let index = lastChange(atOrBefore: second) else {
            let end = file.changes.first ?? Period.limit
            // If the file lists no changes, its rule holds for all times.
            if file.changes.isEmpty, let rule = file.rule {
                return period(of: rule, at: second, after: -Period.limit)
            }
            return Period(-Period.limit, end, file.types[0])
        }
        if let next = file.changes[checked: index + 1] {
            return Period(file.changes[index], next, file.types[file.typeIndexes[index]])
        }
        guard let rule = file.rule else {
            return Period(file.changes[index], Period.limit, file.types[file.typeIndexes[index]])
        }
        return period(of: rule, at: second, after: file.changes[index])
    }

    private func lastChange(atOrBefore second: Int64) -> Int? {
        var (low, high) = (0, file.changes.count)
        while low < high {
            let middle = (low + high) / 2
            if file.changes[middle] <= second { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }

    /// Returns the period of a time by the rule for later years. The period begins no earlier than the file's last
    /// change.
    private func period(of rule: POSIXTimeZone, at second: Int64, after start: Int64) -> Period {
        let year = LocalTime(seconds: second).date.year
        // A time of day of ±167 hours moves a change by at most a week, so the neighbours of the year are enough.
        let changes = (year - 2...year + 2).flatMap { rule.changes(in: $0) }.enumerated()
            .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
        guard let index = changes.lastIndex(where: { $0.time <= second }) else {
            return Period(start, Period.limit, rule.standard)
        }
        let end = changes[checked: index + 1]?.time ?? Period.limit
        return Period(max(start, changes[index].time), end, changes[index].type)
    }
}
