import ArgumentParser

/// A moment in the past, as an operator says it: `90s`, `15m`, `2h`, `3d` ago; Unix seconds; `2026-05-01T10:00:00Z`, `2026-05-01`.
enum PastMoment: Equatable, Sendable, ExpressibleByArgument {
    case ago(seconds: Int64)
    /// Unix milliseconds.
    case at(Int64)

    init?(argument: String) {
        if let seconds = Int64(foreign: argument), seconds >= 0, seconds < 100_000_000_000 {
            self = .at(seconds * 1000)
        } else if let seconds = Self.span(argument) {
            self = .ago(seconds: seconds)
        } else if let milliseconds = Self.timestamp(argument) {
            self = .at(milliseconds)
        } else {
            return nil
        }
    }

    /// Unix milliseconds.
    /// - Parameter now: Unix milliseconds of Redis's clock.
    func milliseconds(now: Int64) -> Int64 {
        switch self {
        case .ago(let seconds): max(0, now - seconds * 1000)
        case .at(let milliseconds): milliseconds
        }
    }

    private static func span(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(foreign: text.dropLast()),
            (0...1_000_000).contains(number)
        else { return nil }
        return number * unit
    }

    /// RFC 3339 in UTC; what is left out of the time is 0.
    private static func timestamp(_ text: String) -> Int64? {
        let parts = text.split(separator: "T", maxSplits: 1)
        guard let first = parts.first else { return nil }
        let date = first.split(separator: "-", omittingEmptySubsequences: false).map { Int64(foreign: $0) }
        guard date.count == 3, let year = date[0], let month = date[1], let day = date[2],
            (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let midnight = days(year, month, day) * 86_400_000
        guard parts.count == 2 else { return midnight }
        guard parts[1].last == "Z" else { return nil }
        let time = parts[1].dropLast().split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(time.count), let hour = Int64(foreign: time[0]),
            let minute = Int64(foreign: time[1]),
            let second = time.count == 3 ? Double(time[2]) : 0, (0..<24).contains(hour),
            (0..<60).contains(minute), (0..<61).contains(second)
        else { return nil }
        return midnight + (hour * 60 + minute) * 60_000 + Int64(clamping: (second * 1000).rounded())
    }

    /// Days since 1970-01-01: whole years before this one, the days of the months before, leap days.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let before: [Int64] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
        let past = year - 1
        let leapDays = past / 4 - past / 100 + past / 400 - 477
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return (year - 1970) * 365 + leapDays + before[Int(month - 1)] + (isLeap && month > 2 ? 1 : 0) + day
            - 1
    }
}
