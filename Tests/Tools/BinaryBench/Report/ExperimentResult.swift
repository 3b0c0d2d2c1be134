/// The results of one experiment.
package struct ExperimentResult: Codable, Sendable {
    package let letter: String
    package let title: String
    package let tallies: [Tally]
    package let verdict: ExperimentVerdict?

    package init(_ experiment: Experiment, _ tallies: [Tally], _ verdict: ExperimentVerdict?) {
        letter = experiment.letter
        title = experiment.title
        self.tallies = tallies
        self.verdict = verdict
    }

    package var isGood: Bool { verdict?.broken.isEmpty ?? true }
}
