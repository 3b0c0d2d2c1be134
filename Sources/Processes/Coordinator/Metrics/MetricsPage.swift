import FarmPolicy

/// A page of metrics in Prometheus's text format, 0.0.4.
///
/// Names and labels follow the conventions of swift-metrics' Prometheus back end: snake case, `_total` at the end of
/// counters, seconds and bytes as units. Pushfarm does not use this back end itself, because its handlers use locks, so
/// that any thread may call them. The coordinator needs no locks: only the thread of the event loop changes the values
/// and makes the page.
struct MetricsPage {
    private enum Kind: String { case counter, gauge, histogram }

    /// Labels with their values, in the order in which they are written.
    typealias Labels = KeyValuePairs<String, String>

    private struct Family {
        var name: String
        var kind: Kind
        var help: String
        /// The index of each value in `labels` and `values`; the key is the text of the value's labels.
        var indices: [String: Int] = [:]
        var labels: [String] = []
        var values: [Double] = []
        var histograms: [LatencyCounts] = []
        /// The number of buckets of a histogram, without the bucket `+Inf`.
        var bounds = 0

        mutating func index(of labels: String) -> Int {
            if let index = indices[labels] { return index }
            let index = indices.count
            indices[labels] = index
            self.labels.append(labels)
            values.append(0)
            histograms.append(LatencyCounts())
            return index
        }
    }

    private var families: [Family] = []
    /// The index of each metric family, by name.
    private var numbers: [String: Int] = [:]

    /// Adds a counter if the name ends in `_total`, else a gauge. Values with the same labels are summed.
    mutating func add(_ name: String, _ help: String, _ value: Double, _ labels: Labels = [:]) {
        let (family, index) = index(name, name.hasSuffix("_total") ? .counter : .gauge, help, labels)
        families[family].values[index] += value
    }

    mutating func add(_ name: String, _ help: String, _ value: some BinaryInteger, _ labels: Labels = [:]) {
        add(name, help, Double(value), labels)
    }

    mutating func add(_ name: String, _ help: String, _ value: Bool, _ labels: Labels = [:]) {
        add(name, help, value ? 1.0 : 0.0, labels)
    }

    /// - Parameter bounds: the number of buckets, without the bucket `+Inf`. The upper bound of the first bucket is 1
    ///   ms; the bound of each further bucket is twice the previous bound.
    mutating func add(
        _ name: String, _ help: String, _ labels: Labels, _ counts: LatencyCounts, bounds: Int
    ) {
        let (family, index) = index(name, .histogram, help, labels)
        families[family].bounds = bounds
        families[family].histograms[index].add(counts)
    }

    /// Finds the family of a value and the index of the value in the family; adds both if they are missing.
    private mutating func index(
        _ name: String, _ kind: Kind, _ help: String, _ labels: Labels
    ) -> (family: Int, index: Int) {
        let number = numbers[name] ?? families.count
        if number == families.count {
            numbers[name] = number
            families.append(Family(name: name, kind: kind, help: help))
        }
        let text = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        return (number, families[number].index(of: text))
    }

    var text: String {
        var text = ""
        for family in families {
            let name = family.name
            text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(family.kind.rawValue)\n"
            for (index, labels) in family.labels.enumerated() {
                if family.kind == .histogram {
                    Self.write(name, labels, family.histograms[index], family.bounds, to: &text)
                } else {
                    text += name + Self.braced(labels) + " \(Self.number(family.values[index]))\n"
                }
            }
        }
        return text
    }

    private static func write(
        _ name: String, _ labels: String, _ counts: LatencyCounts, _ bounds: Int, to text: inout String
    ) {
        let before = labels.isEmpty ? "" : labels + ","
        var sum: UInt64 = 0
        for bucket in 0..<bounds {
            sum += counts.counts[bucket]
            let bound = Double(LatencyCounts.bound(bucket) ?? 0) / 1000
            text += "\(name)_bucket{\(before)le=\"\(number(bound))\"} \(sum)\n"
        }
        text += "\(name)_bucket{\(before)le=\"+Inf\"} \(counts.total)\n"
        text += "\(name)_sum\(braced(labels)) \(number(Double(counts.milliseconds) / 1000))\n"
        text += "\(name)_count\(braced(labels)) \(counts.total)\n"
    }

    private static func braced(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }

    /// Formats a number. Whole numbers get no decimal point.
    private static func number(_ value: Double) -> String {
        if let whole = Int64(exactly: value) { return String(whole) }
        if value.isNaN { return "NaN" }
        return value.isInfinite ? (value > 0 ? "+Inf" : "-Inf") : String(value)
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
