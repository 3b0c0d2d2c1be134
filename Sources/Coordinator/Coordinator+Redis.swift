import EventLoop
import FarmStore
import Logging

/// What a coordinator does while Redis is not there for it: it waits.
extension Coordinator {
    /// Does what must be done before anything else can be, however long Redis takes to be ready for it.
    func patiently<Value: Sendable>(_ body: @Loop () async throws -> Value) async throws -> Value {
        var backoff = Backoff()
        var isWaiting = false
        while true {
            do { return try await body() } catch let error as RedisError where error.isTemporary {
                if !isWaiting { log.warning("the start waits for Redis", metadata: ["error": "\(error)"]) }
                isWaiting = true
                try await Loop.sleep(for: backoff.pause())
            }
        }
    }
}
