/// An event for one waiting task. ``signal()`` wakes the task. If no task waits when ``signal()`` is called, the next
/// ``wait(atMost:)`` returns at once.
@Loop package final class AsyncEvent {
    private var isSignalled = false
    private var waiter: CheckedContinuation<Void, Never>?
    private lazy var timer = Timer { [unowned self] in signal() }

    package init() {}

    package func signal() {
        isSignalled = true
        timer.stop()
        waiter?.resume()
        waiter = nil
    }

    /// Returns after a ``signal()``, or after `limit`. Returns at once if a signal came since the last wait.
    package func wait(atMost limit: Duration) async {
        if !isSignalled {
            await withCheckedContinuation { continuation in
                waiter = continuation
                timer.start(after: limit)
            }
        }
        isSignalled = false
    }
}

/// A condition variable for tasks: each waiting task checks its condition again after every ``signal()``.
@Loop package final class AsyncCondition {
    private var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var next: UInt64 = 0

    package init() {}

    /// Makes all waiting tasks check their conditions.
    package func signal() {
        let all = waiters
        waiters = [:]
        for waiter in all.values { waiter.resume() }
    }

    /// Waits until `condition` is true, or the deadline has passed.
    /// - Returns: whether `condition` is true.
    package func until(
        _ deadline: ContinuousClock.Instant, _ condition: @Loop () -> Bool
    ) async -> Bool {
        while !condition() {
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

/// Runs a closure after wake-ups. If several wake-ups come before the closure starts, the closure runs only once.
///
/// Two runs of the closure never overlap. If wake-ups come during a run, the closure runs once more after this run.
@Loop package final class WakeUp {
    private let work: @Loop () async -> Void
    private var isWanted = false
    private var isRunning = false

    package init(_ work: @escaping @Loop () async -> Void) { self.work = work }

    package func callAsFunction() {
        isWanted = true
        guard !isRunning else { return }
        isRunning = true
        Loop.task {
            while self.isWanted {
                self.isWanted = false
                await self.work()
            }
            self.isRunning = false
        }
    }
}
