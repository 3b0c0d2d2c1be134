import EventLoop
import FarmPolicy
import Logging
import StoreProtocol

/// What a start needs of Redis.
extension HostContext {
    /// Repeats a step of the start until Redis is able to do it, however long that takes.
    func retryWhileRedisIsAway<Value: Sendable>(_ body: @Loop () async throws -> Value) async throws -> Value
    {
        var backoff = BackOff.redis
        var isWaiting = false
        while true {
            do { return try await body() } catch let error as RedisError where error.isTemporary {
                if !isWaiting {
                    log.warning("waiting for Redis before start", metadata: ["error": "\(error)"])
                }
                isWaiting = true
                try await Loop.sleep(for: backoff.failed())
            }
        }
    }

    /// Refuses a Redis that may evict keys: pushes would be lost.
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
            log.warning("Redis has no append-only file: a restart of Redis loses queued pushes")
        }
    }
}
