/// A condition variable for tasks: each waiting task checks its condition again after every ``ring()``.
@Loop package final class AsyncCondition {
    private var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var next: UInt64 = 0

    package init() {}

    /// Makes all waiting tasks check their conditions.
    package func ring() {
        let all = waiters
        waiters = [:]
        for waiter in all.values { waiter.resume() }
    }

    /// Waits until `isSo` is true, or the deadline has passed.
    /// - Returns: whether `isSo` is true.
    package func until(
        _ deadline: ContinuousClock.Instant, _ isSo: @Loop () -> Bool
    ) async -> Bool {
        while !isSo() {
            guard ContinuousClock.now < deadline else { return false }
            let key = next
            next += 1
            let timer = Timer { [weak self] in self?.waiters.removeValue(forKey: key)?.resume() }
            timer.start(after: deadline - .now)
            await withCheckedContinuation { waiters[key] = $0 }
            timer.stop()
        }
        return true
    }
}
