/// The median of several rounds' values, with the distance of the other values.
package struct Spread: Codable, Sendable, Hashable {
    package let median: Double
    package let least: Double
    package let greatest: Double

    /// Nil for an empty list.
    package init?(_ values: [Double]) {
        let sorted = values.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        let middle = sorted.count / 2
        median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        (least, greatest) = (first, last)
    }

    /// The percentile of `values`: the smallest value for which at least this share of the values is equal or smaller. Nil for an
    /// empty list.
    package static func percentile(_ share: Double, of values: [Double]) -> Double? {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        let place = Int((share * Double(sorted.count)).rounded(.up)) - 1
        return sorted[min(max(place, 0), sorted.count - 1)]
    }
}
