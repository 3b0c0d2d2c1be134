import EventLoop
import FarmConfiguration
import Logging
import RedisClient

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
