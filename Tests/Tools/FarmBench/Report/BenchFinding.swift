/// The results of one case.
package struct BenchFinding: Codable, Sendable, Hashable {
    package let key: String
    package let title: String
    package let figures: [Figure]
    package let rounds: [Round]

    /// The greatest share of the bench's cores that other processes may use. Above this share, the figures are not
    /// reliable.
    package static let tooMuchCompany = 0.05

    /// - Parameter measures: the measures of the case. A measure that has a value in no round is omitted. An
    ///   omitted measure with a bar counts as missing.
    package init(key: String, title: String, _ measures: [Measure], _ rounds: [Round]) {
        (self.key, self.title, self.rounds) = (key, title, rounds)
        figures = measures.compactMap { $0.figure(of: rounds) }
        let found = Set(figures.map(\.title))
        missing = measures.filter { $0.bar != nil && !found.contains($0.title) }.map(\.title)
    }

    /// The titles of measures that have a bar and no measured value.
    package let missing: [String]

    package var broken: [String] {
        rounds.enumerated().flatMap { number, round in round.broken.map { "round \(number + 1): \($0)" } }
            + missing.map { "not measured: \($0)" }
    }

    package var shareOfOthers: Spread? { Spread(rounds.map(\.shareOfOthers)) }
    package var hadTooMuchCompany: Bool { (shareOfOthers?.greatest ?? 0) > Self.tooMuchCompany }

    /// Whether every bar is met and no promise is broken.
    package var isGood: Bool { broken.isEmpty && figures.allSatisfy { $0.isReached != false } }
}
