import Foundation

extension Int {
    /// The number with its digits in groups of three.
    package var grouped: String {
        let digits = Array(String(magnitude))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return self < 0 ? "-" + text : text
    }
}

extension Double {
    /// The number with two decimals.
    package var text: String { String(format: "%.2f", self) }

    /// The number with three significant digits, or with all digits before the decimal point.
    package var brief: String {
        switch magnitude {
        case ..<9.995: String(format: "%.2f", self)
        case ..<99.95: String(format: "%.1f", self)
        default: Int(rounded()).grouped
        }
    }

    /// The number as a time in seconds, with a suitable number of digits.
    package var time: String {
        switch self {
        case ..<10: String(format: "%.2f s", self)
        case ..<100: String(format: "%.1f s", self)
        case ..<7_200: Int(rounded()).grouped + " s"
        default: String(format: "%.1f h", self / 3_600)
        }
    }
}

extension Duration {
    package var seconds: Double { self / .seconds(1) }
}
