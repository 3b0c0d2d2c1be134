/// What is read from the rounds of a case, and the bar that it is held to.
package struct Measure: Sendable {
    let title: String
    let unit: String
    /// Its name in the rounds.
    let value: String
    /// The name of what it is set beside; then the bar is for the ratio of the two, taken within each round.
    var reference: String?
    /// What that is.
    var referenceTitle = "h2load"
    /// A figure without a bar only tells.
    var bar: Bar?
    /// The name of the share of the cores that it used itself: where they were full, the bar is for other machines.
    var fullness: String?

    /// From here on cores count as full: the rest is the kernel's, in nobody's name.
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
