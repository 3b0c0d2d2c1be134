import EventLoop
import FarmConfiguration
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// What all parts of a coordinator share: its configuration, its connection to Redis, its log and its lifecycle.
@Loop final class HostContext {
    let options: HostCoordinator.Options
    let log: Logger
    let settings: RedisSettings
    let redis: RedisConnection
    let registry: FarmRegistry
    let lifecycle: Lifecycle
    /// Wakes every task that waits for a change: of a child, a shard, a lease, the lifecycle.
    let changes = AsyncCondition()
    /// Unique id of this process.
    let nonce = Nonce.make()
    /// Unix milliseconds.
    let startTime = WallClock.seconds * 1000
    private(set) var configuration: Configuration
    /// Limits how often refused values are logged.
    private var refusedValues = RefusedValues()

    /// - Throws: a fault of the address of Redis.
    init(_ options: HostCoordinator.Options, log: Logger) throws {
        self.options = options
        self.log = log
        configuration = options.configuration
        settings = try RedisSettings(
            url: options.redisURL, authority: options.redisAuthority,
            clientName: "pushfarm-coordinator-\(options.configuration.host)")
        redis = RedisConnection(settings)
        registry = FarmRegistry(connection: redis)
        lifecycle = Lifecycle(options.succeeds ? .successor : .first)
    }

    var host: String { configuration.host }
    /// Shards of each app.
    var shards: Int { configuration.shards }

    /// Replaces those parts of the configuration that can change while the coordinator runs.
    func adopt(_ next: Configuration) {
        configuration.apps = next.apps
        configuration.alerts = next.alerts
        configuration.program = next.program
        configuration.workers = next.workers
    }

    /// Logs that a value from outside is not used; for each place at most once in ten minutes.
    /// - Parameter place: a key, a field of a key, or a channel.
    func logRefusedValue(at place: String, reason: String) {
        guard refusedValues.isToBeTold(at: place, now: .now) else { return }
        log.warning("a value is refused", metadata: ["at": "\(place)", "reason": "\(reason)"])
    }
}

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
                    log.warning("waiting for Redis before start", error: error)
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
                error: error)
        }
        guard info.evictionPolicy == "noeviction" else {
            throw CoordinatorError.evictingRedis(policy: info.evictionPolicy)
        }
        if !info.isAppendOnly {
            log.warning("Redis has no append-only file: a restart of Redis loses queued pushes")
        }
    }
}
