import EventLoop
import Foundation

/// Runs `body` on the event loop of the test bundle. The loop gets its own thread at the first use.
///
/// The task does not prefer the loop as its executor, so blocking code and long computations run elsewhere. Therefore the loop
/// may do other work at each `await`, also between the check of a state and the start of the wait for its change. Code that
/// waits must check again in the continuation's body, or start a `Loop.task`, which continues at once if no wait is needed.
package func onLoop<Value: Sendable>(
    _ body: @escaping @Loop () async throws -> Value
) async throws -> Value {
    _ = loopThread
    return try await body()
}

private let loopThread: Void = Thread.detachNewThread {
    try? Loop.run { while true { try await Loop.sleep(for: .seconds(3600)) } }
}
