import EventLoop
import FarmStore
import Logging

/// What a coordinator wants of Redis, and what it does while Redis is not there for it: it waits.
extension Coordinator {
    /// Does what must be done before anything else can be, however long Redis takes to be ready for it.
    func patiently<Value: Sendable>(_ body: @Loop () async throws -> Value) async throws -> Value {
        var backoff = ReconnectBackoff()
        var isWaiting = false
        while true {
            do { return try await body() } catch let error as RedisError where error.isTemporary {
                if !isWaiting { log.warning("the start waits for Redis", metadata: ["error": "\(error)"]) }
                isWaiting = true
                try await Loop.sleep(for: backoff.pause())
            }
        }
    }

    /// A Redis that may throw keys away would lose pushes: such a one is refused.
    func checkRedis() async throws {
        let info: RedisInfo
        do throws(RedisError) { info = try await registry.info() } catch {
            guard !error.isTemporary else { throw error }
            return log.error(
                "cannot check Redis: its eviction policy must be noeviction. The farm's user needs +info",
                metadata: ["error": "\(error)"])
        }
        guard info.evictionPolicy == "noeviction" else {
            throw CoordinatorError.evictingRedis(policy: info.evictionPolicy)
        }
        if !info.isAppendOnly {
            log.warning("Redis keeps no append-only file: a restart of Redis loses what is queued")
        }
    }
}
