import ControlChannel
package import EventLoop
package import FarmConfiguration
import FarmPolicy
import FarmStore
package import Logging

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One host's coordinator: holds the leases, takes jobs in, keeps the workers alive, settles what they report.
@Loop package final class Coordinator {
    /// What it is started with.
    package struct Options {
        package var configuration: FarmConfiguration
        /// The farm's Redis: a URL with its password, and the CA to trust there in PEM, empty for the system's.
        package var redisURL: String
        package var redisAuthority: [UInt8]
        package var workers: Int
        /// The program that workers are: this one.
        package var program: String
        /// Variables by which a worker logs as we do, `NAME=value`.
        package var environment: [String]
        /// Reads the configuration anew.
        package var reload: @Loop () throws -> FarmConfiguration

        package init(
            configuration: FarmConfiguration, redisURL: String, redisAuthority: [UInt8] = [], workers: Int,
            program: String, environment: [String], reload: @escaping @Loop () throws -> FarmConfiguration
        ) {
            self.configuration = configuration
            self.redisURL = redisURL
            self.redisAuthority = redisAuthority
            self.workers = workers
            self.program = program
            self.environment = environment
            self.reload = reload
        }
    }

    private let options: Options
    private let log: Logger
    private var configuration: FarmConfiguration
    private let settings: RedisSettings
    private let redis: RedisConnection
    private let registry: FarmRegistry
    private let since = WallClock.seconds * 1000
    private var apps: [String: HostedApp] = [:]
    private var slots: [WorkerSlot] = []
    private var map: ShardMap
    private var surroundings: HostedApp.Surroundings?
    private var subscriber: RedisSubscriber?
    private var leaseEnd: UInt64 = 0
    private var signals: [SignalWatcher] = []
    private var isStopping = false
    private var stopping: CheckedContinuation<Void, Never>?
    /// Workers that are gone and whose batches are not yet taken back: their slot gets no shards before.
    private var bereaved: Set<Int> = []

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
        map = ShardMap(shards: options.configuration.shards, workers: options.workers)
    }

    /// Runs until a signal ends it; everything is handed over in order.
    /// - Parameter onReady: called when the leases are asked for and the workers are started.
    package func run(onReady: @Loop () -> Void = {}) async throws {
        watchSignals()
        let nonce = Nonce.make()
        let lock = try await HostLock(
            path: configuration.stateDirectory + "/coordinator.lock", nonce: nonce, patience: .seconds(15)
        ) { log.notice("waiting for the workers of the coordinator before") }
        redis.onLoss = { [log] error in
            log.warning("Redis is not reachable", metadata: ["error": "\(error)"])
        }
        redis.start()
        await redis.whenReady()
        try await checkRedis()
        try await registry.fixShards(configuration.shards)
        try await registry.addApps(configuration.apps.map(\.name))
        let around = surroundings(nonce: nonce, predecessor: lock.predecessor)
        surroundings = around
        makeSlots(lock)
        for app in configuration.apps { await add(app, around) }
        redis.onReady = { [unowned self] isOther in
            if isOther { log.notice("Redis is another process than before") }
            Task { @Loop in await keepLeases() }
        }
        listen()
        for slot in slots { slot.start() }
        let tasks = [
            loop(every: AppLeases.renewInterval) { [unowned self] in await keepLeases() },
            loop(every: .seconds(1)) { [unowned self] in await beat() },
            loop(every: .seconds(2)) { [unowned self] in
                for app in apps.values { await app.credentials.look() }
            },
            loop(every: .seconds(5)) { [unowned self] in await sweep() },
        ]
        log.notice(
            "coordinator ready",
            metadata: ["host": "\(configuration.host)", "apps": "\(apps.count)", "workers": "\(slots.count)"])
        onReady()
        await untilStopped()
        for task in tasks { task.cancel() }
        await shutDown()
    }

    // MARK: Start

    private func surroundings(nonce: String, predecessor: String) -> HostedApp.Surroundings {
        var retention = Retention()
        retention.accounts = configuration.accountsKept
        retention.accountSeconds = Int(configuration.accountLife.components.seconds)
        return HostedApp.Surroundings(
            redis: redis, redisSettings: settings, registry: registry, host: configuration.host,
            shards: configuration.shards, nonce: nonce, predecessor: predecessor, retention: retention,
            log: log,
            tellWorkers: { [unowned self] order in for slot in slots { slot.tell(order) } },
            ring: { [unowned self] app, shards in ring(app, shards) })
    }

    /// A Redis that may throw keys away would lose pushes: such a one is refused.
    private func checkRedis() async throws {
        let info = try await registry.info()
        guard info.evictionPolicy == "noeviction" else {
            throw CoordinatorError.evictingRedis(policy: info.evictionPolicy)
        }
        if !info.isAppendOnly {
            log.warning("Redis keeps no append-only file: a restart of Redis loses what is queued")
        }
    }

    private func makeSlots(_ lock: HostLock) {
        let launch = WorkerSlot.Launch(
            program: options.program, host: configuration.host, lock: lock.descriptor,
            environment: options.environment)
        slots = (0..<options.workers).map { WorkerSlot(index: $0, launch: launch, owner: self, log: log) }
    }

    private func add(_ configuration: AppConfiguration, _ around: HostedApp.Surroundings) async {
        let app = HostedApp(configuration, around)
        apps[configuration.name] = app
        app.onShardsChanged = { [unowned self, unowned app] in
            for slot in slots where slot.isReady { assign(app, to: slot) }
        }
        await app.start(liveWorkers: liveWorkers)
        grantLease(from: BootClock.milliseconds)
    }

    private func listen() {
        let bells = apps.values.map(\.store.keys.bell)
        let subscriber = RedisSubscriber(settings, channels: [Array(FarmKeys.commands.utf8)] + bells)
        subscriber.onMessage = { [unowned self] channel, message in heard(channel, message) }
        subscriber.start()
        self.subscriber?.close()
        self.subscriber = subscriber
    }

    private func heard(_ channel: [UInt8], _ message: [UInt8]) {
        let text = String(decoding: message, as: UTF8.self)
        if channel.elementsEqual(FarmKeys.commands.utf8) {
            Task { @Loop in for app in apps.values { await app.credentials.look() } }
        } else if let app = apps.values.first(where: { $0.store.keys.bell == channel }) {
            let all = text == "*"
            ring(
                app.name,
                all ? Array(0..<configuration.shards) : text.split(separator: " ").compactMap { Int($0) })
        }
    }

    private func loop(every interval: Duration, _ body: @escaping @Loop () async -> Void) -> Task<Void, Never>
    {
        Task { @Loop in
            while (try? await Loop.sleep(for: interval)) != nil { await body() }
        }
    }

    // MARK: Leases and shards

    private func keepLeases() async {
        let start = BootClock.milliseconds
        var allKept = true
        for app in apps.values where !isStopping {
            let kept = await app.leases.keep()
            allKept = allKept && kept
        }
        if allKept { return grantLease(from: start) }
        guard BootClock.milliseconds >= leaseEnd else { return }
        for app in apps.values { app.leases.expire() }
    }

    private func grantLease(from start: UInt64) {
        leaseEnd = start + (AppLeases.lease - AppLeases.margin).milliseconds
        for slot in slots { slot.tell(.lease(end: leaseEnd)) }
    }

    private func assign(_ app: HostedApp, to slot: WorkerSlot) {
        let shards = bereaved.contains(slot.index) ? [] : app.shards { map.worker(of: $0) == slot.index }
        slot.tell(.shards(app: app.name, shards))
    }

    private func ring(_ app: String, _ shards: [Int]) {
        guard !shards.isEmpty else { return }
        for slot in slots where slot.isReady {
            let his = shards.filter { map.worker(of: $0) == slot.index }
            if !his.isEmpty { slot.tell(.ring(app: app, shards: his.map { UInt16($0) })) }
        }
    }

    private var liveWorkers: [String] { slots.filter { $0.pid > 0 }.map(\.name) }

    private func sweep() async {
        for app in apps.values { await app.sweep(liveWorkers: liveWorkers) }
    }

    // MARK: Beats

    private func beat() async {
        for slot in slots { slot.watch() }
        do throws(RedisError) {
            try await registry.beat(host: configuration.host, status: line.json, lifetime: .seconds(10))
        } catch { log.debug("no heartbeat", metadata: ["error": "\(error)"]) }
    }

    private var line: HostLine {
        HostLine(
            host: configuration.host, pid: getpid(), state: isStopping ? "stopping" : "running",
            capacity: slots.count, since: since,
            slots: slots.map { slot in
                (slot, apps.values.map { $0.shards { map.worker(of: $0) == slot.index }.count }.max() ?? 0)
            })
    }

    // MARK: Signals, reload, end

    private func watchSignals() {
        signals = [SIGTERM, SIGINT].map { number in
            SignalWatcher(number) { [unowned self] in stop() }
        }
        signals.append(SignalWatcher(SIGHUP) { [unowned self] in Task { @Loop in await reload() } })
    }

    private func stop() {
        if isStopping {
            log.warning("told twice to stop: stopping at once")
            exit(1)
        }
        isStopping = true
        stopping?.resume()
        stopping = nil
    }

    private func untilStopped() async {
        guard !isStopping else { return }
        await withCheckedContinuation { stopping = $0 }
    }

    private func reload() async {
        guard let around = surroundings, !isStopping else { return }
        let next: FarmConfiguration
        do { next = try options.reload() } catch {
            return log.error("the configuration is not changed", metadata: ["error": "\(error)"])
        }
        let changes = configuration.changes(to: next)
        if !changes.needRestart.isEmpty {
            log.warning(
                "some changes take effect at the next start",
                metadata: ["keys": "\(changes.needRestart.joined(separator: ", "))"])
        }
        configuration.apps = next.apps
        for name in changes.removed { await remove(name) }
        for app in next.apps {
            if changes.added.contains(app.name) {
                await add(app, around)
            } else if let present = apps[app.name] {
                await present.change(to: app)
            }
        }
        if !changes.added.isEmpty || !changes.removed.isEmpty { listen() }
        do throws(RedisError) { try await registry.addApps(next.apps.map(\.name)) } catch {
            log.warning("apps not registered", metadata: ["error": "\(error)"])
        }
        for slot in slots where slot.isReady {
            for name in changes.added { apps[name].map { introduce($0, to: slot) } }
        }
        log.notice("configuration read anew", metadata: ["apps": "\(apps.count)"])
    }

    private func remove(_ name: String) async {
        guard let app = apps.removeValue(forKey: name) else { return }
        for slot in slots { slot.tell(.forget(app: name)) }
        await app.stop()
    }

    private func shutDown() async {
        log.notice("coordinator stopping")
        for app in apps.values { await app.stopIntake() }
        let endings = slots.map { slot in Task { @Loop in await slot.stop(within: .seconds(20)) } }
        for ending in endings { await ending.value }
        for app in apps.values {
            app.workerReported()
            await app.stop()
        }
        subscriber?.close()
        // The line ends by itself if this does not get through.
        try? await registry.leave(host: configuration.host)
        redis.close()
        log.notice("coordinator stopped")
    }
}

extension Coordinator: WorkerSlot.Owner {
    func started(_ slot: WorkerSlot) {
        slot.tell(
            .begin(
                redis: options.redisURL, redisAuthority: options.redisAuthority, worker: slot.name,
                index: UInt16(slot.index)))
        for app in apps.values {
            for order in app.credentials.orders { slot.tell(order) }
        }
        slot.tell(.lease(end: leaseEnd))
    }

    func noticed(_ notice: Notice, _ slot: WorkerSlot) {
        switch notice {
        case .hello: for app in apps.values { assign(app, to: slot) }
        case .beat: break
        case .reported(let name): apps[name]?.workerReported()
        case .doubt(let name, let doubt, let generation, let reason):
            Task { @Loop in
                await apps[name]?.credentials.doubt(doubt, generation: generation, reason: reason)
            }
        case .proved(let name, let generation): apps[name]?.credentials.proved(generation: generation)
        case .fenced(let name): apps[name]?.leases.doubt()
        }
    }

    func ended(_ slot: WorkerSlot, name: String, isCrash: Bool) async {
        bereaved.insert(slot.index)
        for app in apps.values { await app.reclaim(from: name, isCrash: isCrash) }
        bereaved.remove(slot.index)
    }

    private func introduce(_ app: HostedApp, to slot: WorkerSlot) {
        for order in app.credentials.orders { slot.tell(order) }
        assign(app, to: slot)
    }
}

/// Why a coordinator does not start.
package enum CoordinatorError: Error, CustomStringConvertible {
    case evictingRedis(policy: String)

    package var description: String {
        switch self {
        case .evictingRedis(let policy):
            "Redis has maxmemory-policy \(policy), which throws keys away, and pushes with them; set it to noeviction"
        }
    }
}
