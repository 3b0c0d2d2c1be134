/// The last values of many series, one value per update.
struct TopHistory {
    /// The most values that the widest screen can show.
    static let most = 200
    private var values: [String: [Double]] = [:]
    private var samples = 0
    private var seen: [String: Int] = [:]

    /// Starts an update, and removes the series that got no value for many updates.
    mutating func begin() {
        samples += 1
        guard samples.isMultiple(of: Self.most) else { return }
        for (name, sample) in seen where samples - sample > Self.most {
            (values[name], seen[name]) = (nil, nil)
        }
    }

    mutating func note(_ name: String, _ value: Double) {
        values[name] = (values[name] ?? []).suffix(Self.most - 1) + [max(0, value)]
        seen[name] = samples
    }

    /// The last values as a sparkline, with the latest value at the right. The highest value has the full height.
    func sparkline(_ name: String, width: Int) -> String {
        Self.sparkline(values[name] ?? [], width: width)
    }

    func values(_ name: String) -> [Double] { values[name] ?? [] }

    func last(_ name: String) -> Double? { values[name]?.last }

    static func sparkline(_ values: [Double], width: Int) -> String {
        guard width > 0 else { return "" }
        let shown = values.suffix(width)
        let highest = shown.max() ?? 0
        let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
        let text = shown.map { value -> Character in
            guard highest > 0, value > 0 else { return "▁" }
            return bars[min(7, Int(clamping: (value / highest * 7).rounded()))]
        }
        return String(repeating: " ", count: width - shown.count) + String(text)
    }

    /// A share as a bar, drawn in eighths of a column.
    static func bar(_ share: Double, width: Int) -> String {
        let eighths = Int(clamping: (min(1, max(0, share)) * Double(width) * 8).rounded())
        let parts: [Character] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        var text = String(repeating: "█", count: eighths / 8)
        if eighths % 8 > 0 { text.append(parts[eighths % 8]) }
        return text + String(repeating: "·", count: max(0, width - text.count))
    }
}
