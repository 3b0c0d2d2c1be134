/// What of the bench is run, and how much of it.
package struct BenchPlan: Sendable {
    package var rounds: Int
    /// Every number of pushes is divided by this.
    package var divisor: Int
    /// The simulator counts different tokens: a rehearsal, too slow to be measured.
    package var isRehearsal: Bool
    /// For logs.
    package var folder: String

    package init(rounds: Int = 5, divisor: Int = 1, isRehearsal: Bool = false, folder: String) {
        (self.rounds, self.divisor) = (rounds, divisor)
        (self.isRehearsal, self.folder) = (isRehearsal, folder)
    }

    /// In whole thousands, or what is left of one.
    package func pushes(_ count: Int) -> Int {
        let share = count / divisor
        return share >= 1_000 ? share / 1_000 * 1_000 : max(share, 1)
    }
}
