/// Wakes the one task that waits for it. A ``ring()`` without a waiting task ends the next wait at once.
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

    /// Returns after a ``ring()``, at once if there was one since the last wait, or after `limit`.
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
