/// A value that is read from the rounds of a case, with its target.
package struct Measure: Sendable {
    let title: String
    let unit: String
    /// The value's name in the rounds.
    let value: String
    /// The name of the reference value. If there is a reference, the bar applies to the ratio of the value to the reference
    /// value; the ratio is computed for each round.
    var reference: String?
    /// The title of the reference.
    var referenceTitle = "h2load"
    /// The target; nil for a figure without a target.
    var bar: Bar?
    /// The name of the value with the measured processes' share of the cores. When the cores were full, the bar does not apply.
    var fullness: String?

    /// If processes use at least this share of the cores, the cores count as full. The kernel uses the rest, and
    /// charges the rest to no process.
    package static let full = 0.9

    package init(
        _ title: String, _ unit: String, _ value: String, beside reference: String? = nil,
        of referenceTitle: String = "h2load", bar: Bar? = nil, unlessFull fullness: String? = nil
    ) {
        (self.title, self.unit, self.value) = (title, unit, value)
        (self.reference, self.referenceTitle) = (reference, referenceTitle)
        (self.bar, self.fullness) = (bar, fullness)
    }

    package func figure(of rounds: [Round]) -> Figure? {
        guard let value = Spread(rounds.compactMap { $0[self.value] }) else { return nil }
        var figure = Figure(title: title, unit: unit, value: value, bar: bar)
        if let reference {
            figure.reference = Spread(rounds.compactMap { $0[reference] })
            figure.referenceTitle = referenceTitle
            figure.ratio = Spread(
                rounds.compactMap { round in
                    guard let value = round[self.value], let other = round[reference], other > 0 else {
                        return nil
                    }
                    return value / other
                })
        }
        if let fullness, let use = Spread(rounds.compactMap { $0[fullness] }) {
            figure.areCoresFull = use.median >= Self.full
        }
        return figure
    }
}
