import EventLoop
import Foundation

/// Runs `body` on the event loop of the test bundle. The loop gets its own thread at the first use.
///
/// The task does not prefer the loop as its executor, so blocking code and long computations run on other threads.
/// Therefore the loop may run other callbacks at each `await`, even between a check of a condition and the start of the
/// wait for that condition. Code that waits must check the condition again in the continuation's body, or start a
/// `Loop.task`, which continues at once if no wait is needed.
package func onLoop<Value: Sendable>(
    _ body: @escaping @Loop () async throws -> Value
) async throws -> Value {
    _ = loopThread
    return try await body()
}

private let loopThread: Void = Thread.detachNewThread {
    try? Loop.run { while true { try await Loop.sleep(for: .seconds(3600)) } }
}
