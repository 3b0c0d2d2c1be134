import EventLoop
import Foundation

/// Runs `body` on the event loop of the test bundle, which gets a thread of its own at the first use.
///
/// It is a task without the loop as its preferred executor, so that what blocks or computes runs elsewhere. The price: the loop
/// may do others' work at each `await`, also between a look at a state and the beginning of the wait for its change. So who
/// waits looks again in the continuation's body; or starts a `Loop.task`, which goes on at once where it need not wait.
package func onLoop<Value: Sendable>(
    _ body: @escaping @Loop () async throws -> Value
) async throws -> Value {
    _ = loopThread
    return try await body()
}

private let loopThread: Void = Thread.detachNewThread { Loop.runForever() }
