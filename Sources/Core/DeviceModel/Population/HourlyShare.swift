/// A share of devices, from 0 to 1, for each hour of the day.
package struct HourlyShare: Hashable, Sendable {
    package static let hours = 24

    private let shares: [Double]

    /// The same share at all hours.
    package init(_ share: Double) { shares = [Double](repeating: share, count: Self.hours) }

    /// - Parameter shares: 24 shares; the first share applies from 00:00 to 01:00.
    package init(hours shares: [Double]) {
        precondition(shares.count == Self.hours, "\(shares.count) hours")
        self.shares = shares
    }

    /// - Parameter hour: an hour of the day, from 0 to 23.
    package subscript(hour: Int) -> Double { shares[hour] }
}
