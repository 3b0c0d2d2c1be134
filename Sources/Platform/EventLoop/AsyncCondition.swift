/// Lets tasks wait until something has become so: each looks again whenever it rings.
@Loop package final class AsyncCondition {
    private var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var next: UInt64 = 0

    package init() {}

    /// Something has changed: everybody who waits looks again.
    package func ring() {
        let all = waiters
        waiters = [:]
        for waiter in all.values { waiter.resume() }
    }

    /// Returns when `isSo`, or when the time has passed.
    /// - Returns: whether it is so.
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
