package import EventLoop

/// Limits the wait for an operation that takes no deadline itself.
@Loop package enum Deadline {
    /// - Returns: the result of `body`, or `nil` after the deadline; `body` then continues, and its result is dropped.
    package static func race<Value: Sendable>(
        until deadline: ContinuousClock.Instant, _ body: @escaping @Loop () async -> Value
    ) async -> Value? {
        let race = Race<Value>()
        return await race.run(until: deadline, body)
    }

    @Loop private final class Race<Value: Sendable> {
        private var continuation: CheckedContinuation<Value?, Never>?
        private var timer: Timer?

        func run(
            until deadline: ContinuousClock.Instant, _ body: @escaping @Loop () async -> Value
        ) async -> Value? {
            await withCheckedContinuation { continuation in
                self.continuation = continuation
                timer = Timer { [weak self] in self?.finish(nil) }
                timer?.start(after: deadline - .now)
                Loop.task { self.finish(await body()) }
            }
        }

        private func finish(_ value: sending Value?) {
            continuation?.resume(returning: value)
            continuation = nil
            timer?.stop()
        }
    }
}
