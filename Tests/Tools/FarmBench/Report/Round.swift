/// One round of a case: its values by name, and its broken promises.
package struct Round: Codable, Sendable, Hashable {
    package var values: [String: Double] = [:]
    /// The promises that were broken, such as a missing or repeated push or a crashed process.
    package var broken: [String] = []
    /// The share of the bench's cores that other processes used, in the worst measurement of the round.
    package var shareOfOthers = 0.0

    package init(values: [String: Double] = [:], broken: [String] = [], shareOfOthers: Double = 0) {
        (self.values, self.broken, self.shareOfOthers) = (values, broken, shareOfOthers)
    }

    package subscript(name: String) -> Double? {
        get { values[name] }
        set { values[name] = newValue }
    }
}
