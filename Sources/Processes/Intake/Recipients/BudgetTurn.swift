import EventLoop

/// Lets only one task of an app at a time read, change and store the counters of background pushes: campaigns or look-ups.
@Loop final class BudgetTurn {
    /// How often a task that waits looks whether it is cancelled.
    private static let checkInterval = Duration.milliseconds(200)

    private var isTaken = false
    private let freed = AsyncEvent()

    init() {}

    /// Waits until no other task has the turn, and takes the turn. Call ``end()`` afterwards.
    ///
    /// - Returns: false if the task is cancelled while it waits. Then it has no turn.
    func begin() async -> Bool {
        while isTaken {
            guard !Task.isCancelled else { return false }
            await freed.wait(atMost: Self.checkInterval)
        }
        isTaken = true
        return true
    }

    func end() {
        isTaken = false
        freed.signal()
    }
}
