/// How many rounds a run of the bench has, how many pushes a round has, and where the logs are.
package struct BenchPlan: Sendable {
    package var rounds: Int
    /// The divisor of every number of pushes.
    package var divisor: Int
    /// The number of stored devices of the case `campaign`; nil for a million.
    package var devices: Int?
    /// Whether the run is a rehearsal, in which the simulator counts how many different tokens arrive. A rehearsal is
    /// too slow to be measured.
    package var isRehearsal: Bool
    /// The folder for logs.
    package var folder: String

    package init(rounds: Int = 5, divisor: Int = 1, isRehearsal: Bool = false, folder: String) {
        (self.rounds, self.divisor) = (rounds, divisor)
        (self.isRehearsal, self.folder) = (isRehearsal, folder)
    }

    /// Divides a number of pushes and rounds the result to whole thousands. A result below a thousand is not rounded.
    package func pushes(_ count: Int) -> Int {
        let share = count / divisor
        return share >= 1_000 ? share / 1_000 * 1_000 : max(share, 1)
    }
}
