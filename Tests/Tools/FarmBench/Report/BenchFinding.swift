/// All that came of one case.
package struct BenchFinding: Codable, Sendable, Hashable {
    package let key: String
    package let title: String
    package let figures: [Figure]
    package let rounds: [Round]

    /// Others had more of the bench's cores than this: the figures are not to be trusted.
    package static let tooMuchCompany = 0.05

    /// - Parameter measures: those of which no round has a value are left out, and missed if they have a bar.
    package init(key: String, title: String, _ measures: [Measure], _ rounds: [Round]) {
        (self.key, self.title, self.rounds) = (key, title, rounds)
        figures = measures.compactMap { $0.figure(of: rounds) }
        let found = Set(figures.map(\.title))
        missing = measures.filter { $0.bar != nil && !found.contains($0.title) }.map(\.title)
    }

    /// Bars of which nothing was measured.
    package let missing: [String]

    package var broken: [String] {
        rounds.enumerated().flatMap { number, round in round.broken.map { "round \(number + 1): \($0)" } }
            + missing.map { "not measured: \($0)" }
    }

    package var company: Spread? { Spread(rounds.map(\.company)) }
    package var hadTooMuchCompany: Bool { (company?.greatest ?? 0) > Self.tooMuchCompany }

    /// Every bar is met, and nothing is broken.
    package var isGood: Bool { broken.isEmpty && figures.allSatisfy { $0.isReached != false } }
}
