import EventLoop
import FarmStore
import Logging

/// What a coordinator does while Redis is not there for it: it waits.
extension Coordinator {
    /// One line when Redis cannot be reached, one when it can again.
    func watchRedis() {
        redis.onOutage = { [log] outage in
            switch outage {
            case .began(let error): log.warning("Redis is not reachable", metadata: ["error": "\(error)"])
            case .ended(let duration):
                log.notice("Redis is reachable again", metadata: ["after": "\(duration)"])
            }
        }
    }

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
