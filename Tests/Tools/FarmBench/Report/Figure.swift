/// One line of the results table.
package struct Figure: Codable, Sendable, Hashable {
    package let title: String
    package let unit: String
    package let value: Spread
    package var reference: Spread?
    package var referenceTitle: String?
    package var ratio: Spread?
    package let bar: Bar?
    /// Whether the machine was the limit and not the farm.
    package var areCoresFull = false

    package init(title: String, unit: String, value: Spread, bar: Bar?) {
        (self.title, self.unit, self.value, self.bar) = (title, unit, value, bar)
    }

    /// The value that is compared with the bar; nil if the reference could not be measured.
    package var judged: Double? { referenceTitle == nil ? value.median : ratio?.median }

    /// Whether the figure reaches its bar; nil without a bar.
    package var isReached: Bool? {
        guard let bar else { return nil }
        guard let judged else { return false }
        return areCoresFull || bar.isReached(by: judged)
    }

    /// How well the figure reaches its bar: 1 if the figure equals the bar, and more if the figure is better. Nil without a bar.
    package var margin: Double? {
        guard let bar, let judged, judged > 0, bar.limit > 0 else { return nil }
        return switch bar {
        case .atMost(let limit): limit / judged
        case .atLeast(let limit): judged / limit
        }
    }
}
