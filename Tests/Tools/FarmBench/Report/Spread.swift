/// What several rounds gave: the one in the middle, and how far the others are from it.
package struct Spread: Codable, Sendable, Hashable {
    package let median: Double
    package let least: Double
    package let greatest: Double

    /// Nil without a value.
    package init?(_ values: [Double]) {
        let sorted = values.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        let middle = sorted.count / 2
        median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        (least, greatest) = (first, last)
    }

    /// The smallest of `values` that a share of them does not exceed; nil without a value.
    package static func percentile(_ share: Double, of values: [Double]) -> Double? {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        let place = Int((share * Double(sorted.count)).rounded(.up)) - 1
        return sorted[min(max(place, 0), sorted.count - 1)]
    }
}
