import EventLoop
import Foundation

/// Runs `body` on the event loop of the test bundle, which gets a thread of its own at the first use.
package func onLoop<Value: Sendable>(
    _ body: @escaping @Loop () async throws -> Value
) async throws -> Value {
    _ = loopThread
    return try await body()
}

private let loopThread: Void = Thread.detachNewThread { Loop.runForever() }
