import EventLoop

/// A lock that admits one task at a time, in order of arrival.
@Loop final class TaskLock {
    private var isTaken = false
    private var queue: [CheckedContinuation<Void, Never>] = []

    func pass<Value>(_ body: @Loop () async throws -> Value) async rethrows -> Value {
        await withCheckedContinuation { continuation in
            guard isTaken else {
                isTaken = true
                return continuation.resume()
            }
            queue.append(continuation)
        }
        defer {
            if queue.isEmpty { isTaken = false } else { queue.removeFirst().resume() }
        }
        return try await body()
    }
}
