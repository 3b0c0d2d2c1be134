import EventLoop
import FarmPolicy
import StoreProtocol

/// The parts of a coordinator, each with a state of its own, and its periodic work.
///
/// The parts that hold leases and workers get what they depend on. The others concern the host as a whole: they find the
/// parts that they need here.
@Loop final class CoordinatorParts {
    let context: HostContext

    // Apps, children and leases.
    let apps = HostedApps()
    let fleet: WorkerFleet
    let leases: LeaseKeeper
    let shards: ShardDistribution
    let registration: HostRegistration
    let handOver: LeaseHandOver
    let pressure: Pressure
    let scaling: WorkerScaling
    let wakeUps: ShardWakeUps
    private(set) lazy var hosting = AppHosting(parts: self)
    private(set) lazy var crashes = WorkerCrashes(self)
    private(set) lazy var notices = ChildNotices(self)
    private(set) lazy var listener = WakeUpListener(self)

    // What people see.
    private(set) lazy var status = HostReport(self)
    private(set) lazy var service = ServiceReports(context.options.service, log: context.log) {
        [unowned self] phase in
        fleet.killHangingChildren()
        return status.serviceStatus(in: phase)
    }
    private(set) lazy var alerts = AlertMonitor(
        context.configuration.alerts, host: context.host, registry: context.registry, log: context.log
    ) { [apps] app, event in apps[app]?.store.send(TellEvent(event)) { _ in } }
    private(set) lazy var alertObservations = AlertObservations(self)
    let backlog = BacklogMonitor()
    let probe: RedisProbe
    private(set) lazy var missingHosts = MissingHosts(self)
    private(set) lazy var unknownApps = UnknownApps(self)
    private(set) lazy var metrics = MetricsServer(self)

    // What people do.
    let exclusive = ExclusiveChange()
    private(set) lazy var participation = HostParticipation(parts: self)
    private(set) lazy var desired = DesiredState(self)
    private(set) lazy var shutdown = HostShutdown(self)
    private(set) lazy var upgrade = HostUpgrade(self)
    private(set) lazy var takeover = HostTakeover(self)
    private(set) lazy var reload = ConfigurationReload(self)
    private(set) lazy var operations = HostOperations(self)
    private(set) lazy var signals = SignalHandlers(self)

    init(_ context: HostContext) {
        self.context = context
        let options = context.options
        let autoscaler = options.isAuto ? Autoscaler(most: options.workers) : nil
        fleet = WorkerFleet(context)
        leases = LeaseKeeper(apps, fleet)
        shards = ShardDistribution(context, apps, fleet, size: autoscaler?.workers ?? options.workers)
        registration = HostRegistration(context, apps, fleet, leases)
        handOver = LeaseHandOver(context, apps, leases, shards, registration)
        pressure = Pressure(context.registry, shards: context.shards, log: context.log)
        scaling = WorkerScaling(context, apps, fleet, shards, pressure, autoscaler: autoscaler)
        wakeUps = ShardWakeUps(context, fleet, shards)
        probe = RedisProbe(context.redis)
        registration.makeHeartbeat = { [unowned self] in status.heartbeat }
        registration.onHeartbeat = { [handOver, scaling] in
            handOver.proceed()
            scaling.evaluate()
        }
        registration.onNameLost = { [unowned self] in
            let failure = CoordinatorError.hostNameTaken(context.host)
            if context.lifecycle.isStopping {
                context.lifecycle.stop(because: failure)
            } else {
                shutdown.stop(because: failure)
            }
        }
    }

    /// Gives apps what they need of the host. To be called once, when the predecessor is known.
    func prepareApps() {
        var retention = Retention()
        retention.jobRecords = context.configuration.jobRecordsKept
        retention.jobRecordSeconds = Int(context.configuration.jobRecordLife.components.seconds)
        apps.prepare(
            HostServices(
                redis: context.redis, host: context.host, shards: context.shards, log: context.log,
                retention: retention, workers: context.options.workers, nonce: context.nonce,
                predecessor: registration.predecessor,
                notifyWorkers: { [fleet] order in fleet.sendToWorkers(order) },
                notifyIntake: { [fleet] order in fleet.sendToIntake(order) },
                shardsReady: { [wakeUps] app, shards in wakeUps.note(shards, of: app) },
                orderWorker: { [fleet] order in fleet.sendToOneWorker(order) },
                liveWorkers: { [fleet] in fleet.liveWorkers }))
    }
}
