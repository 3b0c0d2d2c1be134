import ControlChannel
package import EventLoop
import FarmConfiguration
import FarmPolicy
import FarmStore
package import Logging
import Supervision

/// One host's coordinator: holds the leases, keeps intake and workers alive, settles what workers report.
@Loop package final class Coordinator {
    let options: Options
    let log: Logger
    var configuration: FarmConfiguration
    let settings: RedisSettings
    let redis: RedisConnection
    let registry: FarmRegistry
    let pressure: Pressure
    lazy var service = ServiceReports(options.service, log: log) { [unowned self] in lookAtChildren() }
    /// Why the configuration on disk was refused when it was last read.
    var refusal: String?
    var metrics: MetricsServer?
    let appWatch = BacklogMonitor()
    let probe: RedisProbe
    let inboxSearch: InboxSearch
    /// Apps that were taken out of this configuration since the start, until they are forgotten.
    var removedApps: Set<String> = []
    /// Apps of hosts that were lost within the last hour, as the first host sees it.
    var lostApps: Set<String> = []
    var alerts: AlertMonitor?
    /// By worker.
    var crashLoops: [Int: CrashLoop] = [:]
    /// Leases that apps had lost that were taken out since.
    var leasesLostBefore = 0
    /// How many leases were lost when one was lost last, and when that was seen.
    var lastLoss: (count: Int, at: ContinuousClock.Instant?) = (0, nil)
    /// Hosts that are missing, as the first of those that live sees it.
    var goneHosts: [String] = []
    let since = WallClock.seconds * 1000
    var apps: [String: HostedApp] = [:]
    var slots: [WorkerSlot] = []
    var intake: IntakeSlot?
    /// How many workers there are to be, and whose each shard is.
    var placement: WorkerPlacement
    /// Workers whose processes a signal has made quiet.
    var quietBySignal: Set<Int> = []
    var dependencies: HostedApp.Dependencies?
    /// Apps that were added since the start.
    var added = 0
    var subscriber: RedisSubscriber?
    lazy var heardShards = PendingShards(shards: configuration.shards)
    lazy var tellOfShards = WakeUp { [unowned self] in tellHeardShards() }
    lazy var beatSoon = WakeUp { [unowned self] in await beat() }
    lazy var lookForOperationsSoon = WakeUp { [unowned self] in await lookForOperations() }
    var leaseRounds = LeaseRounds(now: .now)
    /// Unique id of this process.
    let nonce = Nonce.make()
    /// The nonce of the coordinator before on this host, if it is known to be gone, else "".
    var predecessor = ""
    var hostClaim = HostClaim()
    /// A beat before its time is on its way.
    var isTelling = false
    var membership: Membership
    /// Rings when leases are to be looked at before their time.
    let leaseBell = AsyncEvent()
    /// Why it ends, if not by a signal.
    var failure: CoordinatorError?
    var signals: [SignalWatcher] = []
    var isStopping = false
    /// Children have ended, and what was here is given back.
    var hasFinished = false
    /// This host's line is taken out, or about to be: it is not written again.
    var hasLeft = false
    /// Children were started, who are to be ended in order.
    var hasChildren = false
    /// One reading of the configuration after the other.
    var isReloading = false
    /// How long workers may finish at the end.
    var patience = Duration.seconds(20)
    var stopping: CheckedContinuation<Void, Never>?
    /// Exited workers whose batches await reclaim: their slot gets no shards before that.
    var bereaved: Set<Int> = []
    var kills = RecentKills()
    var quarantine = ShardQuarantine()
    /// Which worker has which shard, or has not yet let go of it.
    var assignments = ShardAssignments()
    /// How many workers there are to be; nil when their number is fixed.
    var staffing: Autoscaler?
    /// Which values from outside were refused lately.
    var refusedValues = RefusedValues()
    /// Rings whenever something has changed that a task may wait for: a child, a shard, a lease.
    let changes = AsyncCondition()
    /// A change that an operator wants and that is under way.
    var busyWith: String?
    /// Everything was given away; the host stays, empty.
    var isDrained = false
    /// What operators want to last was followed up to this.
    var followedScale: String?
    /// From which children log, if an operator has said so.
    var logLevel: String?
    var launch: ChildLaunch?
    var lock: HostLock?
    /// The coordinator that is to follow this one, while it takes over.
    var successor: Successor?
    var isHandingOver = false
    /// An operator wants to abort the upgrade.
    var isAborted = false
    /// Another one has this host's name, leases and locks.
    var isSucceeded = false
    /// This one is to follow another, and has not yet the host's name.
    var isSucceeding = false
    /// The upgrade to this process was aborted.
    var isUnseated = false
    /// To the coordinator before, as long as it lives.
    var succession: ControlLink<SuccessionNotice, SuccessionOrder>?
    lazy var operations = OperationConsumer(
        registry, host: configuration.host, log: log
    ) { [unowned self] command, operation async throws(OperationRefusal) in
        try await carryOut(command, operation)
    }
    lazy var control = ControlServer(configuration.stateDirectory + "/control.sock", log: log) {
        [unowned self] command, tell in operations.begin(command, tell: tell)
    }
    /// Workers that are to end as soon as nothing is in their hands.
    var retired: Set<Int> = []

    /// - Throws: what is wrong with the address of Redis.
    package init(_ options: Options, log: Logger) throws {
        self.options = options
        self.log = log
        configuration = options.configuration
        settings = try RedisSettings(
            url: options.redisURL, authority: options.redisAuthority,
            clientName: "pushfarm-coordinator-\(options.configuration.host)")
        redis = RedisConnection(settings)
        registry = FarmRegistry(connection: redis)
        pressure = Pressure(registry, shards: options.configuration.shards, log: log)
        inboxSearch = InboxSearch(registry, log: log)
        membership = Membership(shards: options.configuration.shards, now: .now)
        probe = RedisProbe(redis)
        staffing = options.isAuto ? Autoscaler(most: options.workers) : nil
        placement = WorkerPlacement(
            shards: options.configuration.shards, size: staffing?.workers ?? options.workers)
    }

    /// Runs until a signal ends it; everything is handed over in order.
    /// - Parameter onReady: called when the leases are asked for and the workers are started.
    package func run(onReady: @Loop () -> Void = {}) async throws {
        Loop.keep(self)
        watchSignals()
        operations.onEnd = { [changes] in changes.ring() }
        service.begin()
        warnOfOpenDoors()
        isSucceeding = options.succeeds
        let lock = try await hostLock()
        self.lock = lock
        predecessor = lock.predecessor
        if lock.hasOrphans {
            log.warning("workers of the coordinator before do not end: starting beside them")
        }
        if !isSucceeding { await control.open() }
        redis.logOutages(to: log)
        if !isSucceeding { openMetrics() }
        redis.start()
        await redis.whenReady()
        try await patiently { [unowned self] in
            try await checkRedis()
            try await registry.fixShards(configuration.shards)
            try await registry.addApps(configuration.apps.map(\.name))
        }
        makeSlots(lock)
        if isSucceeding { await beat() } else { try await takeSeat() }
        let around = makeSurroundings()
        dependencies = around
        for app in configuration.apps { await add(app, around) }
        await keepLeases()
        redis.onReady = { [unowned self] isOther in
            if isOther { log.notice("Redis is another process than before") }
            pressure.reconnected()
            renewSoon()
        }
        await pressure.beat(apps.values)
        alerts = makeAlerts()
        listen()
        hasChildren = true
        intake?.start()
        for slot in slots.prefix(placement.size) { slot.start() }
        let tasks = routines()
        log.notice(
            "coordinator ready",
            metadata: [
                "host": "\(configuration.host)", "apps": "\(apps.count)", "workers": "\(placement.size)",
            ])
        if isSucceeding { try await awaitSeat(lock) }
        if !isUnseated {
            service.ready()
            onReady()
        }
        await untilStopped()
        await shutDown()
        control.close()
        for task in tasks { task.cancel() }
        leaseBell.ring()
        metrics?.close()
        await alerts?.close()
        redis.close()
        log.notice("coordinator stopped")
        if let failure { throw failure }
    }
}
