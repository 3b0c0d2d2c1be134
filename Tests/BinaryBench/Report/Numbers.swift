import Foundation

extension Int {
    /// Digits in groups of three.
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
    /// With two digits behind the point.
    var text: String { String(format: "%.2f", self) }

    /// A time in seconds, with as many digits as say something.
    package var time: String {
        switch self {
        case ..<10: String(format: "%.2f s", self)
        case ..<100: String(format: "%.1f s", self)
        case ..<7_200: Int(rounded()).grouped + " s"
        default: String(format: "%.1f h", self / 3_600)
        }
    }
}
