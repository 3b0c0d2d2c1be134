import ControlChannel
package import EventLoop
package import FarmConfiguration
import FarmPolicy
import FarmStore
package import Logging
package import Supervision

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One host's coordinator: holds the leases, keeps intake and workers alive, settles what workers report.
@Loop package final class Coordinator {
    /// What it is started with.
    package struct Options {
        package var configuration: FarmConfiguration
        /// The farm's Redis: a URL with its password, and the CA to trust there in PEM, empty for the system's.
        package var redisURL: String
        package var redisAuthority: [UInt8]
        /// As many as there may be.
        package var workers: Int
        /// How many of them there are follows the load.
        package var isAuto = false
        /// Of this machine.
        package var processors = 1
        /// It takes over from the coordinator that has started it.
        package var succeeds = false
        /// The process's own.
        package var arguments: [String] = []
        /// Of the process that follows in an upgrade, `NAME=value`.
        package var variables: [String] = []
        /// The program that workers are: this one.
        package var program: String
        /// Of the program.
        package var version = ""
        /// Variables by which a worker logs as we do, `NAME=value`.
        package var environment: [String]
        /// How the service manager that started it is told how it fares; nil: there is none.
        package var service: ServiceEnvironment?
        /// Reads the configuration anew.
        package var reload: @Loop () throws -> FarmConfiguration
        /// Changes from which level on this process logs.
        package var setLogLevel: @Loop (Logger.Level) -> Void = { _ in }
        /// Opens the file anew that this process logs to, if it does.
        package var reopenLogs: @Loop () -> Void = {}

        package init(
            configuration: FarmConfiguration, redisURL: String, redisAuthority: [UInt8] = [], workers: Int,
            isAuto: Bool = false, program: String, environment: [String],
            service: ServiceEnvironment? = nil, reload: @escaping @Loop () throws -> FarmConfiguration
        ) {
            self.configuration = configuration
            self.redisURL = redisURL
            self.redisAuthority = redisAuthority
            self.workers = workers
            self.isAuto = isAuto
            self.program = program
            self.environment = environment
            self.service = service
            self.reload = reload
        }
    }

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
    var metrics: MetricsDesk?
    let appWatch = AppWatch()
    let probe: RedisProbe
    var alerts: AlertWatch?
    /// By worker.
    var crashLoops: [Int: CrashLoop] = [:]
    var leasesLost: (count: Int, at: ContinuousClock.Instant?) = (0, nil)
    /// Hosts that are missing, as the first of those that live sees it.
    var goneHosts: [String] = []
    let since = WallClock.seconds * 1000
    var apps: [String: HostedApp] = [:]
    var slots: [WorkerSlot] = []
    var intake: IntakeSlot?
    /// How many workers there are to be, and whose each shard is.
    var crew: Crew
    var surroundings: HostedApp.Surroundings?
    /// Apps that were added since the start.
    var added = 0
    var subscriber: RedisSubscriber?
    var leaseRounds = LeaseRounds(now: .now)
    /// Of this process: tells it from every other that has or had its host's name.
    let nonce = Nonce.make()
    /// The nonce of the coordinator before on this host, if it is known to be gone, else "".
    var predecessor = ""
    var seat = SeatWatch()
    /// A beat before its time is on its way.
    var isTelling = false
    var membership: Membership
    /// Rings when leases are to be looked at before their time.
    let leaseBell = Bell()
    /// Why it ends, if not by a signal.
    var failure: CoordinatorError?
    var signals: [SignalWatcher] = []
    var isStopping = false
    /// Children have ended, and what was here is given back.
    var hasFinished = false
    /// Children were started, who are to be ended in order.
    var hasChildren = false
    /// One reading of the configuration after the other.
    var isReloading = false
    /// How long workers may finish at the end.
    var patience = Duration.seconds(20)
    var stopping: CheckedContinuation<Void, Never>?
    /// Workers that are gone and whose batches are not yet taken back: their slot gets no shards before.
    var bereaved: Set<Int> = []
    var kills = RecentKills()
    var quarantine = ShardQuarantine()
    /// Which worker has which shard, or has not yet let go of it.
    var hands = ShardHands()
    /// How many workers there are to be; nil when their number is fixed.
    var staffing: Staffing?
    /// Rings whenever something has changed that somebody may wait for: a child, a shard, a lease.
    let changes = Lookout()
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
    /// Somebody wants the upgrade under way to be taken back.
    var isAborted = false
    /// Another one has this host's name, leases and locks.
    var isSucceeded = false
    /// This one is to follow another, and has not yet the host's name.
    var isSucceeding = false
    /// It was to follow another, and does not.
    var isUnseated = false
    /// To the coordinator before, as long as it lives.
    var succession: ControlLink<SuccessionNotice, SuccessionOrder>?
    lazy var operations = OperationDesk(
        registry, host: configuration.host, log: log
    ) { [unowned self] command, operation async throws(Refusal) in try await carryOut(command, operation) }
    lazy var door = ControlDoor(configuration.stateDirectory + "/control.sock", log: log) {
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
        pressure = Pressure(registry, log: log)
        membership = Membership(shards: options.configuration.shards, now: .now)
        probe = RedisProbe(redis)
        staffing = options.isAuto ? Staffing(most: options.workers) : nil
        crew = Crew(shards: options.configuration.shards, size: staffing?.workers ?? options.workers)
    }

    /// Runs until a signal ends it; everything is handed over in order.
    /// - Parameter onReady: called when the leases are asked for and the workers are started.
    package func run(onReady: @Loop () -> Void = {}) async throws {
        watchSignals()
        operations.onEnd = { [changes] in changes.ring() }
        service.begin()
        isSucceeding = options.succeeds
        let lock = try await hostLock()
        self.lock = lock
        predecessor = lock.predecessor
        if lock.hasOrphans {
            log.warning("workers of the coordinator before do not end: starting beside them")
        }
        if !isSucceeding { await door.open() }
        redis.logOutages(to: log)
        openMetrics()
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
        surroundings = around
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
        for slot in slots.prefix(crew.size) { slot.start() }
        let tasks = [
            Loop.task { await self.keepLeasesOn() },
            loop(every: .seconds(1)) { [unowned self] in await beat() },
            loop(every: .seconds(1)) { [unowned self] in await pressure.beat(apps.values) },
            loop(every: .seconds(2)) { [unowned self] in
                for app in apps.values { await app.credentials.look() }
            },
            loop(every: .seconds(5)) { [unowned self] in await sweep() },
            loop(every: .seconds(5)) { [unowned self] in
                // A word that was lost is made good.
                await lookForOperations()
                await follow()
            },
            loop(every: AppWatch.interval) { [unowned self] in await appWatch.look(at: apps.values) },
            loop(every: .seconds(1)) { [unowned self] in
                probe.ask()
                lookForAlerts()
            },
            loop(every: .seconds(3)) { [unowned self] in await lookForGoneHosts() },
            loop(every: .seconds(1)) { [unowned self] in
                for app in apps.values { await app.lookAfterFeedback() }
            },
            loop(every: .seconds(600)) { [unowned self] in
                for app in apps.values {
                    await app.dropOldSuppressed()
                    await app.dropOldLetters()
                }
            },
        ]
        log.notice(
            "coordinator ready",
            metadata: ["host": "\(configuration.host)", "apps": "\(apps.count)", "workers": "\(crew.size)"])
        if isSucceeding { try await awaitSeat(lock) }
        if !isUnseated {
            service.ready()
            onReady()
        }
        await untilStopped()
        await shutDown()
        // Whoever asked for the end hears of it.
        _ = await changes.until(.now + .seconds(5)) { [unowned self] in operations.underWay.isEmpty }
        for task in tasks { task.cancel() }
        leaseBell.ring()
        metrics?.close()
        alerts?.close()
        redis.close()
        log.notice("coordinator stopped")
        if let failure { throw failure }
    }

    // MARK: Start

    private func hostLock() async throws -> HostLock {
        if options.succeeds {
            return HostLock(inherited: ControlDescriptor.child + 1, own: ControlDescriptor.child + 2)
        }
        return try await HostLock(
            path: configuration.stateDirectory + "/coordinator.lock", nonce: nonce, patience: .seconds(15)
        ) { log.notice("waiting for the workers of the coordinator before") }
    }

    func makeSurroundings() -> HostedApp.Surroundings {
        var retention = Retention()
        retention.accounts = configuration.accountsKept
        retention.accountSeconds = Int(configuration.accountLife.components.seconds)
        return HostedApp.Surroundings(
            redis: redis, registry: registry, host: configuration.host,
            shards: configuration.shards, workers: options.workers, nonce: nonce, predecessor: predecessor,
            retention: retention,
            log: log,
            tellWorkers: { [unowned self] order in for slot in slots { slot.tell(order) } },
            tellIntake: { [unowned self] order in intake?.tell(order) },
            ring: { [unowned self] app, shards in ring(app, shards) },
            orderWorker: { [unowned self] order in
                guard let slot = slots.first(where: \.isReady) else { return nil }
                slot.tell(order)
                return slot.name
            },
            liveWorkers: { [unowned self] in liveWorkers })
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

    func makeSlots(_ lock: HostLock) {
        let launch = ChildLaunch(
            program: options.program, lock: lock.descriptor, environment: options.environment)
        self.launch = launch
        intake = IntakeSlot(host: configuration.host, launch: launch, owner: self, log: log)
        slots = (0..<options.workers).map { index in
            WorkerSlot(index: index, host: configuration.host, launch: launch, owner: self, log: log)
        }
    }

    func add(_ configuration: AppConfiguration, _ around: HostedApp.Surroundings) async {
        added += 1
        // Of its own: what an app that was taken out and is back gives up late takes nothing from the new one.
        var around = around
        around.nonce = "\(nonce).\(added)"
        let app = HostedApp(configuration, shares: membership.shares(of: configuration.name), around)
        apps[configuration.name] = app
        app.onShardsChanged = { [unowned self, unowned app] in
            for slot in slots where slot.isReady { assign(app, to: slot) }
            changes.ring()
        }
        await app.start()
        renewSoon()
    }

    func listen() {
        let bells = apps.values.map(\.store.keys.bell)
        let subscriber = RedisSubscriber(settings, channels: [Array(FarmKeys.commands.utf8)] + bells)
        subscriber.onMessage = { [unowned self] channel, message in heard(channel, message) }
        // Rings that were sent before are lost.
        subscriber.onReady = { [unowned self] in
            Loop.task { await self.lookForOperations() }
            for app in apps.keys { ring(app, Array(0..<configuration.shards)) }
        }
        subscriber.start()
        self.subscriber?.close()
        self.subscriber = subscriber
    }

    func heard(_ channel: [UInt8], _ message: [UInt8]) {
        let text = String(decoding: message, as: UTF8.self)
        if channel.elementsEqual(FarmKeys.commands.utf8) {
            obey(HostCommand(text))
        } else if let app = apps.values.first(where: { $0.store.keys.bell == channel }) {
            if text.hasPrefix("s ") { return tellOfDead(app.name, Self.shards(text.dropFirst(2))) }
            if text == "hold" {
                Loop.task { await app.credentials.look() }
                return
            }
            let all = text == "*"
            ring(app.name, all ? Array(0..<configuration.shards) : Self.shards(text))
        }
    }

    private static func shards(_ text: some StringProtocol) -> [Int] {
        text.split(separator: " ").compactMap { Int($0) }
    }

    func loop(every interval: Duration, _ body: @escaping @Loop () async -> Void) -> Task<Void, Never> {
        Loop.task {
            while (try? await Loop.sleep(for: interval)) != nil { await body() }
        }
    }
}
