import Foundation

/// Runs the experiments one after the other. In each experiment the historic senders run at the same time, because they mostly
/// wait. The farm then runs alone.
package struct ExperimentSeries: Sendable {
    package let experiments: [Experiment]
    /// The historic sender that waits after each push is slow. In each experiment it sends only for this number of seconds, and
    /// the result for the whole list is extrapolated.
    package let budget: Double

    /// Whether to run only the farm, without the historic senders.
    private let isFarmOnly: Bool
    /// The folder for the farm's logs.
    private let folder: String

    package init(
        only letters: Set<String> = [], budget: Double = 45, isFarmOnly: Bool = false, folder: String
    ) {
        experiments = Experiment.all.filter { letters.isEmpty || letters.contains($0.letter) }
        self.budget = budget
        self.isFarmOnly = isFarmOnly
        self.folder = folder
    }

    package func run(_ experiment: Experiment) async throws -> ExperimentResult {
        var tallies = isFarmOnly || !experiment.comparesSenders ? [] : try await historic(experiment)
        let log = "\(folder)/farm-\(experiment.letter)"
        let farm = try await FarmRun(experiment: experiment, logFile: log + ".log").run()
        tallies.append(farm)
        var other: Tally?
        if experiment.comparesPaths {
            other = try await FarmRun(experiment: experiment, path: .http2, logFile: log + "-http2.log").run()
        }
        tallies += [other].compactMap { $0 }
        return ExperimentResult(experiment, tallies, ExperimentVerdict(on: farm, beside: other, experiment))
    }

    private func historic(_ experiment: Experiment) async throws -> [Tally] {
        try await withThrowingTaskGroup(of: (Int, Tally).self) { group in
            for (index, habit) in ReadingHabit.all.enumerated() {
                group.addTask {
                    let run = HistoricRun(
                        experiment: experiment, habit: habit, budget: budget, seed: index + 1)
                    return (index, try await run.run())
                }
            }
            var all: [(Int, Tally)] = []
            for try await one in group { all.append(one) }
            return all.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
