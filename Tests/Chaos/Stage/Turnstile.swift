import EventLoop

/// Lets one through at a time, in the order in which they came.
@Loop final class Turnstile {
    private var isTaken = false
    private var queue: [CheckedContinuation<Void, Never>] = []

    func pass<Value>(_ body: @Loop () async throws -> Value) async rethrows -> Value {
        if isTaken { await withCheckedContinuation { queue.append($0) } }
        isTaken = true
        defer {
            if queue.isEmpty { isTaken = false } else { queue.removeFirst().resume() }
        }
        return try await body()
    }
}
