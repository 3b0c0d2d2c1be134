/// One line of the table.
package struct Figure: Codable, Sendable, Hashable {
    package let title: String
    package let unit: String
    package let value: Spread
    package var reference: Spread?
    package var referenceTitle: String?
    package var ratio: Spread?
    package let bar: Bar?
    /// The machine was the limit, not the farm.
    package var areCoresFull = false

    package init(title: String, unit: String, value: Spread, bar: Bar?) {
        (self.title, self.unit, self.value, self.bar) = (title, unit, value, bar)
    }

    /// What the bar is held against. With a reference that could not be measured there is nothing.
    package var judged: Double? { referenceTitle == nil ? value.median : ratio?.median }

    /// Nil: there is no bar.
    package var isReached: Bool? {
        guard let bar else { return nil }
        guard let judged else { return false }
        return areCoresFull || bar.isReached(by: judged)
    }

    /// How good it is, where 1 is just good enough and more is better; nil without a bar.
    package var margin: Double? {
        guard let bar, let judged, judged > 0, bar.limit > 0 else { return nil }
        return switch bar {
        case .atMost(let limit): limit / judged
        case .atLeast(let limit): judged / limit
        }
    }
}
