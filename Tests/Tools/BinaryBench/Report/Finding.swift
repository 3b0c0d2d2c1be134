/// All that came of one experiment.
package struct Finding: Codable, Sendable {
    package let letter: String
    package let title: String
    package let tallies: [Tally]
    package let verdict: Verdict?

    package init(_ experiment: Experiment, _ tallies: [Tally], _ verdict: Verdict?) {
        letter = experiment.letter
        title = experiment.title
        self.tallies = tallies
        self.verdict = verdict
    }

    package var isGood: Bool { verdict?.broken.isEmpty ?? true }
}
