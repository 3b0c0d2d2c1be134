import Foundation

/// The experiments one after the other; within one the senders of the write-ups at the same time, for they mostly wait, and
/// then the farm by itself.
package struct BinaryBench: Sendable {
    package let experiments: [Experiment]
    /// Seconds for the sender that waits after each push, in each experiment: the rest is extrapolated.
    package let budget: Double

    package init(only letters: Set<String> = [], budget: Double = 45) {
        experiments = Experiment.all.filter { letters.isEmpty || letters.contains($0.letter) }
        self.budget = budget
    }

    package func run(_ experiment: Experiment) async throws -> Finding {
        var tallies = try await withThrowingTaskGroup(of: (Int, Tally).self) { group in
            for (place, habit) in Habit.all.enumerated() {
                group.addTask {
                    let run = HistoricRun(
                        experiment: experiment, habit: habit, budget: budget, seed: place + 1)
                    return (place, try await run.run())
                }
            }
            var all: [(Int, Tally)] = []
            for try await one in group { all.append(one) }
            return all.sorted { $0.0 < $1.0 }.map(\.1)
        }
        let farm = try await FarmRun(experiment: experiment).run()
        tallies.append(farm)
        var other: Tally?
        if experiment.comparesPaths {
            other = try await FarmRun(experiment: experiment, path: .http2).run()
        }
        tallies += [other].compactMap { $0 }
        return Finding(experiment, tallies, Verdict(on: farm, beside: other, experiment))
    }
}
