/// Reads durations and times as people write them.
package enum TimeText {
    /// The number of milliseconds in each unit; the longest unit comes first.
    private static let units: [(name: String, milliseconds: Double)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]
    /// The longest duration: a thousand years in milliseconds.
    private static let longest = 1000 * 366 * 86_400_000.0

    /// The number of milliseconds in a duration such as `90s`, `15m`, `1.5h`, `3d` or `500ms`.
    ///
    /// A duration may have several units, the longer unit first: `1h30m`.
    /// - Returns: nil if the text has another form, for example a number without a unit, or exceeds a thousand years.
    package static func duration(_ text: String) -> Int64? { try? readDuration(text) }

    /// Does the same as ``duration(_:)``, but throws a ``Fault`` instead of returning nil.
    package static func readDuration(_ text: String) throws(Fault) -> Int64 {
        guard text.utf8.count <= 40 else { throw .form }
        guard text.first != "-" else { throw .negative }
        var rest = text[...]
        var remaining = units[...]
        var sum = 0.0
        while !rest.isEmpty {
            let number = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest = rest.dropFirst(number.count)
            let name = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(name.count)
            guard let value = decimal(number) else { throw .form }
            guard !name.isEmpty || !rest.isEmpty else { throw .noUnit(number: number) }
            guard let index = remaining.firstIndex(where: { $0.name == name }) else {
                throw name.isEmpty ? .form : units.contains { $0.name == name } ? .order : .unit(name: name)
            }
            sum += value * remaining[index].milliseconds
            remaining = remaining[(index + 1)...]
        }
        guard !text.isEmpty else { throw .form }
        guard sum <= longest else { throw .tooLong }
        return Int64(clamping: sum.rounded())
    }

    /// Converts an ISO 8601 date or time to milliseconds since 1970.
    ///
    /// Examples: `2026-05-01`, `2026-05-01T10:00Z`, `2026-05-01T12:00:00.5+02:00`. A date alone means midnight in UTC.
    /// - Returns: nil if the text has another form, for example a time without a zone, or lies before 1970.
    package static func moment(_ text: String) -> Int64? { try? readMoment(text) }

    /// Does the same as ``moment(_:)``, but throws a ``Fault`` instead of returning nil.
    package static func readMoment(_ text: String) throws(Fault) -> Int64 {
        guard text.utf8.count <= 40 else { throw .form }
        let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        guard let midnight = Self.midnight(parts[0]) else {
            if Self.midnight(text.prefix(10)) != nil { throw .separator }
            guard parts[0].prefix(5).last == "-", let year = whole(parts[0].prefix(4), digits: 4) else {
                throw .form
            }
            throw year < 1970 ? .tooEarly : .date
        }
        guard parts.count == 2 else { return midnight }
        guard let zone = parts[1].lastIndex(where: { "Z+-".contains($0) }) else { throw .noZone }
        guard let offset = minutes(parts[1][zone...]) else { throw .zone }
        guard let time = timeOfDay(parts[1][..<zone]) else { throw .timeOfDay }
        return midnight + time - offset * 60_000
    }

    /// Converts a time to seconds since 1970.
    ///
    /// The text is a number of seconds since 1970, an ISO 8601 date or time, or a duration such as `3d`, which means 3 days ago.
    /// - Parameter now: the present time in seconds since 1970.
    /// - Returns: nil if the text has another form, or the number of seconds does not fit 32 bits.
    package static func since(_ text: some StringProtocol, now: Int64) -> Int64? {
        let text = String(text)
        let seconds =
            Int64(foreign: text) ?? duration(text).map { now - $0 / 1000 } ?? moment(text).map { $0 / 1000 }
        return seconds.flatMap { (0...Int64(UInt32.max)).contains($0) ? $0 : nil }
    }

    private static func midnight(_ text: Substring) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = whole(parts[0], digits: 4), let month = whole(parts[1], digits: 2),
            let day = whole(parts[2], digits: 2), year >= 1970,
            let date = CivilDate(year: year, month: Int(month), day: Int(day))
        else { return nil }
        return date.dayNumber * 86_400_000
    }

    private static func timeOfDay(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let hour = whole(parts[0], digits: 2), hour < 24,
            let minute = whole(parts[1], digits: 2), minute < 60
        else { return nil }
        var seconds = 0.0
        if parts.count == 3 {
            // Allows a leap second, `60`, which has the same value as the first second of the next minute.
            guard parts[2].prefix(while: { $0 != "." }).count == 2, let number = decimal(parts[2]),
                number < 61
            else { return nil }
            seconds = number
        }
        return (hour * 60 + minute) * 60_000 + Int64(clamping: (seconds * 1000).rounded(.down))
    }

    /// Converts a zone such as `Z`, `+02:00` or `-0530` to minutes east of UTC.
    private static func minutes(_ zone: Substring) -> Int64? {
        if zone == "Z" { return 0 }
        let digits = zone.dropFirst().filter { $0 != ":" }
        guard let number = whole(digits[...], digits: 4), number / 100 <= 14, number % 100 < 60,
            zone.count == 5 || zone.count == 6 && zone.dropFirst(3).first == ":"
        else { return nil }
        return (zone.first == "-" ? -1 : 1) * (number / 100 * 60 + number % 100)
    }

    private static func whole(_ text: Substring, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(foreign: text)
    }

    /// Reads a number such as `15` or `1.5`. Before and after a decimal point there must be digits.
    private static func decimal(_ text: Substring) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), text.utf8.count <= 20,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        return Double(text)
    }
}

extension TimeText {
    /// Why a text is not a duration or a time.
    package enum Fault: Error, Equatable, CustomStringConvertible {
        case form
        case negative
        case noUnit(number: Substring)
        case unit(name: Substring)
        case order
        case tooLong
        case separator
        case date
        case tooEarly
        case timeOfDay
        case noZone
        case zone

        /// A sentence that names the broken rule or the correct form; nil if the text does not resemble a duration or a time.
        package var advice: String? {
            switch self {
            case .form: nil
            case .negative: "a duration is not negative"
            case .noUnit(let number): "\(number) needs a unit: d, h, m, s or ms"
            case .unit(let name): "there is no unit \(name): d, h, m, s or ms"
            case .order: "each unit is given once, the longer one first, as in 1h30m"
            case .tooLong: "a duration is at most a thousand years"
            case .separator: "date and time are joined by a T, as in 2026-05-01T10:00:00Z"
            case .date: "there is no such day"
            case .tooEarly: "a time is not before 1970"
            case .timeOfDay: "the time of day is like 10:00 or 10:00:00"
            case .noZone: "a time needs a time zone, such as Z or +02:00"
            case .zone: "a time zone is like Z or +02:00"
            }
        }

        package var description: String { advice ?? "it is neither a duration nor a time" }
    }
}
