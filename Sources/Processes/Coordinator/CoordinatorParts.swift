import EventLoop
import FarmPolicy
import StoreProtocol

/// The parts of a coordinator: each has a state of its own, and finds the other parts here.
@Loop final class CoordinatorParts {
    let context: HostContext

    // Apps, children and leases.
    let apps = HostedApps()
    private(set) lazy var fleet = WorkerFleet(context)
    private(set) lazy var hosting = AppHosting(parts: self)
    private(set) lazy var leases = LeaseKeeper(self)
    private(set) lazy var handOver = LeaseHandOver(parts: self)
    private(set) lazy var registration = HostRegistration(self)
    private(set) lazy var shards = ShardDistribution(self)
    private(set) lazy var wakeUps = ShardWakeUps(self)
    private(set) lazy var scaling = WorkerScaling(self)
    private(set) lazy var crashes = WorkerCrashes(self)
    private(set) lazy var notices = ChildNotices(self)
    private(set) lazy var listener = WakeUpListener(self)
    private(set) lazy var pressure = Pressure(context.registry, shards: context.shards, log: context.log)

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
    private(set) lazy var probe = RedisProbe(context.redis)
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

    init(_ context: HostContext) { self.context = context }

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
