/// Formats numbers for people.
enum Figures {
    /// A number with separators: `1,234,567`.
    static func grouped(_ value: some BinaryInteger) -> String {
        let digits = Array(String(value.magnitude).utf8)
        var text = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }

    /// A rate: `500/s`, `90/m`, `5/h`. The unit is the shortest unit in which the rate is at least one.
    static func perTime(_ perSecond: Double) -> String {
        let (number, unit) =
            perSecond >= 1
            ? (perSecond, "s") : perSecond * 60 >= 1 ? (perSecond * 60, "m") : (perSecond * 3600, "h")
        let thousandths = (number * 1000).rounded()
        return
            (thousandths.remainder(dividingBy: 1000) == 0
            ? "\(Int(clamping: thousandths / 1000))" : "\(thousandths / 1000)") + "/" + unit
    }

    /// A number with its noun: `1 batch`, `1,234 batches`.
    static func counted(_ value: Int, _ one: String, _ many: String) -> String {
        "\(grouped(value)) \(value == 1 ? one : many)"
    }

    /// A duration: `950 ms`, `2.5 s`, `3 min 20 s`, `2 h 5 min`.
    static func time(_ duration: Duration) -> String {
        let milliseconds = duration.clampedMilliseconds
        let seconds = milliseconds / 1000
        switch seconds {
        case ..<1: return "\(milliseconds) ms"
        case ..<10: return "\(seconds).\(milliseconds % 1000 / 100) s"
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<172_800: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) days"
        }
    }

    /// A short duration: `40 s`, `7 min`, `3 h`, `12 d`.
    static func brief(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        switch seconds {
        case ..<100: return "\(seconds) s"
        case ..<6000: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3600) h"
        default: return "\(seconds / 86_400) d"
        }
    }

    /// A process id without separators, or a dash.
    static func pid(_ pid: Int?) -> String { pid.map(String.init) ?? "–" }

    /// A number in at most six columns: `9,999`, `12.3k`, `4.5M`.
    static func short(_ value: Int) -> String {
        guard value.magnitude >= 10_000 else { return grouped(value) }
        var (number, unit) = (Double(value), 0)
        while abs(number) >= 999.5, unit < 4 {
            number /= 1000
            unit += 1
        }
        let digits =
            abs(number) >= 99.95 ? "\(Int(clamping: number.rounded()))" : "\((number * 10).rounded() / 10)"
        return digits + ["", "k", "M", "G", "T"][unit]
    }

    /// A size: `512 B`, `15.2 MB`. A megabyte has 1,000,000 bytes.
    static func bytes(_ count: Int64) -> String {
        let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
        var (value, unit) = (count, 0)
        var rest: Int64 = 0
        while value >= 1000, unit < units.count - 1 {
            (value, rest) = (value / 1000, value % 1000 / 100)
            unit += 1
        }
        return unit == 0 || value >= 100 ? "\(value) \(units[unit])" : "\(value).\(rest) \(units[unit])"
    }

    /// Numbers with ranges: `0-17 19 22-23`.
    static func ranges(_ numbers: RangeSet<Int>) -> String {
        numbers.ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound - 1)" }
            .joined(separator: " ")
    }

    /// The count per second as a whole number.
    static func rate(_ count: Int, in duration: Duration) -> Int {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        return seconds > 0 ? Int(clamping: (Double(count) / seconds).rounded()) : 0
    }
}
