import EventLoop
import FarmConfiguration
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// A coordinator's parts and the state that the parts share. Each part has its own state and finds the other parts
/// here.
@Loop final class HostContext {
    let options: HostCoordinator.Options
    let log: Logger
    let settings: RedisSettings
    let redis: RedisConnection
    let farmRedis: FarmRedis
    let lifecycle: Lifecycle
    /// Wakes every task that waits for a change of a child, a shard, a lease or the lifecycle.
    let changes = AsyncCondition()
    /// A unique id of this process.
    let nonce = Nonce.make()
    /// When the coordinator started, in Unix milliseconds.
    let startTime = WallClock.seconds * 1000
    private(set) var configuration: Configuration
    /// Limits how often refused values are logged.
    private var refusedValues = RefusedValueLog()

    // The parts for apps, children and leases.
    private(set) lazy var apps = HostedApps(self)
    private(set) lazy var fleet = WorkerFleet(self)
    private(set) lazy var leases = LeaseKeeper(self)
    private(set) lazy var handOver = LeaseHandOver(context: self)
    private(set) lazy var registration = HostRegistration(self)
    private(set) lazy var shards = ShardDistribution(self)
    private(set) lazy var wakeUps = ShardWakeUps(self)
    private(set) lazy var scaling = WorkerScaling(self)
    private(set) lazy var workerEnds = WorkerEnds(self)
    private(set) lazy var notices = ChildNotices(self)
    private(set) lazy var listener = WakeUpListener(self)
    private(set) lazy var admission = AdmissionControl(farmRedis, shards: shardCount, log: log)

    // Reports for people.
    private(set) lazy var status = HostReport(self)
    private(set) lazy var service = ServiceReports(options.service, log: log) {
        [unowned self] phase in
        fleet.killHangingChildren()
        return status.serviceStatus(in: phase)
    }
    private(set) lazy var alerts = AlertMonitor(
        configuration.alerts, host: host, farmRedis: farmRedis, log: log
    ) { [apps] app, event in apps[app]?.store.send(AddEvent(event)) { _ in } }
    private(set) lazy var alertObservations = AlertObservations(self)
    let backlog = BacklogMonitor()
    private(set) lazy var probe = RedisProbe(redis)
    private(set) lazy var missingHosts = MissingHosts(self)
    private(set) lazy var unknownApps = UnknownApps(self)
    private(set) lazy var metrics = MetricsServer(self)

    // Operators' commands.
    let operationLock = OperationLock()
    private(set) lazy var participation = HostParticipation(context: self)
    private(set) lazy var desired = DesiredState(self)
    private(set) lazy var shutdown = HostShutdown(self)
    private(set) lazy var upgrade = HostUpgrade(self)
    private(set) lazy var predecessorUpgrade = PredecessorUpgrade(self)
    private(set) lazy var reload = ConfigurationReload(self)
    private(set) lazy var operations = HostOperations(self)
    private(set) lazy var signals = SignalHandlers(self)

    /// - Throws: if the address of Redis is invalid.
    init(_ options: HostCoordinator.Options, log: Logger) throws {
        self.options = options
        self.log = log
        configuration = options.configuration
        settings = try RedisSettings(
            url: options.redisURL, trustedCA: options.redisTrustedCA,
            clientName: "pushfarm-coordinator-\(options.configuration.host)")
        redis = RedisConnection(settings)
        farmRedis = FarmRedis(connection: redis)
        lifecycle = Lifecycle(options.isSuccessor ? .successor : .first)
    }

    var host: String { configuration.host }
    /// The number of shards of each app.
    var shardCount: Int { configuration.shards }

    /// Replaces those parts of the configuration that can change while the coordinator runs.
    func adopt(_ next: Configuration) {
        configuration.apps = next.apps
        configuration.alerts = next.alerts
        configuration.program = next.program
        configuration.workers = next.workers
    }

    /// Logs that a value from outside was refused, at most once in ten minutes for each source.
    /// - Parameter source: a Redis key, a field of a key, or a channel.
    func logRefusedValue(at source: String, reason: String) {
        guard refusedValues.shouldReport(at: source, now: .now) else { return }
        log.warning("a value is refused", metadata: ["at": "\(source)", "reason": "\(reason)"])
    }
}

/// Checks of Redis during the start.
extension HostContext {
    /// Repeats `body`, a step of the coordinator's start, without a time limit until Redis is reachable.
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

    /// Refuses a Redis whose eviction policy may remove keys, because pushes would be lost.
    func checkRedis() async throws {
        let info: RedisInfo
        do throws(RedisError) { info = try await farmRedis.info() } catch {
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
