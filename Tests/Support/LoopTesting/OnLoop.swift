import EventLoop
import Foundation

/// Runs `body` on the event loop of the test bundle, which gets a thread of its own at the first use.
///
/// The task does not prefer the loop as its executor, so that blocking and computing code runs elsewhere. The price: the loop may
/// do other work at each `await`, also between the check of a state and the start of the wait for its change. So code that waits
/// checks again in the continuation's body, or starts a `Loop.task`, which continues at once if it need not wait.
package func onLoop<Value: Sendable>(
    _ body: @escaping @Loop () async throws -> Value
) async throws -> Value {
    _ = loopThread
    return try await body()
}

private let loopThread: Void = Thread.detachNewThread {
    try? Loop.run { while true { try await Loop.sleep(for: .seconds(3600)) } }
}
