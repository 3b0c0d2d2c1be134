import PushModel

/// Writes numbers and durations of a plan for people.
package enum PlanText {
    /// A number with separators: `4,000,000`.
    package static func number(_ value: Int) -> String {
        let digits = Array(String(value.magnitude).utf8)
        var text = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }

    package static func pushes(_ count: Int) -> String { count == 1 ? "1 push" : "\(number(count)) pushes" }

    /// A rate in pushes a second: `300`, or `0.5` with up to three decimals.
    package static func rate(_ rate: Double) -> String {
        if rate >= 100 || rate == rate.rounded() { return number(Int(clamping: rate.rounded())) }
        return "\((rate * 1000).rounded() / 1000)"
    }

    /// A duration in milliseconds with its two greatest units: `3 h 42 min`, `2 h`, `1 min 30 s`, `2 days 4 h`.
    package static func duration(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        switch seconds {
        case ..<1: return "\(milliseconds) ms"
        case ..<60: return "\(seconds) s"
        case ..<3600: return join(seconds / 60, "min", seconds % 60, "s")
        case ..<172_800: return join(seconds / 3600, "h", seconds / 60 % 60, "min")
        default: return join(seconds / 86_400, "days", seconds / 3600 % 24, "h")
        }
    }

    /// The texts of two different durations. If the greatest units do not show the difference, the texts have all
    /// units.
    static func durations(_ first: Int64, _ second: Int64) -> (String, String) {
        let short = (duration(first), duration(second))
        return short.0 == short.1 && first != second ? (exact(first), exact(second)) : short
    }

    private static func exact(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        let parts = [
            (seconds / 3600, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"),
            (milliseconds % 1000, "ms"),
        ]
        return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    private static func join(_ first: Int64, _ unit: String, _ second: Int64, _ smaller: String) -> String {
        second == 0 ? "\(first) \(unit)" : "\(first) \(unit) \(second) \(smaller)"
    }
}
