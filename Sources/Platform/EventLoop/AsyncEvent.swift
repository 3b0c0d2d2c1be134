/// Wakes the one task that waits for it; a ring while no task waits counts for the next wait.
@Loop package final class AsyncEvent {
    private var hasRung = false
    private var waiter: CheckedContinuation<Void, Never>?
    private lazy var timer = Timer { [unowned self] in ring() }

    package init() {}

    package func ring() {
        hasRung = true
        timer.stop()
        waiter?.resume()
        waiter = nil
    }

    /// Returns when the bell rings, or has rung since the last wait, or the time has passed.
    package func wait(atMost limit: Duration) async {
        if !hasRung {
            await withCheckedContinuation { continuation in
                waiter = continuation
                timer.start(after: limit)
            }
        }
        hasRung = false
    }
}
