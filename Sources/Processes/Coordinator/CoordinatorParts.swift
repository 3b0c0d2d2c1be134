import EventLoop
import FarmPolicy
import StoreProtocol

/// The parts of a coordinator, made in the order in which they depend on each other.
@Loop struct CoordinatorParts {
    // Apps, children and leases.
    let apps: HostedApps
    let fleet: WorkerFleet
    let leases: LeaseKeeper
    let shards: ShardDistribution
    let registration: HostRegistration
    let handOver: LeaseHandOver
    let hosting: AppHosting
    let pressure: Pressure
    let scaling: WorkerScaling
    let crashes: WorkerCrashes
    let notices: ChildNotices
    let wakeUps: ShardWakeUps
    let listener: WakeUpListener

    // What people see.
    let status: HostReport
    let service: ServiceReports
    let alerts: AlertMonitor
    let alertObservations: AlertObservations
    let backlog: BacklogMonitor
    let probe: RedisProbe
    let missingHosts: MissingHosts
    let unknownApps: UnknownApps
    let metrics: MetricsEndpoint

    // What people do.
    let participation: HostParticipation
    let desired: DesiredState
    let shutdown: HostShutdown
    let upgrade: HostUpgrade
    let takeover: HostTakeover
    let reload: ConfigurationReload
    let operations: HostOperations
    let signals: SignalHandlers

    init(_ context: HostContext) {
        let options = context.options
        let autoscaler = options.isAuto ? Autoscaler(most: options.workers) : nil
        apps = HostedApps()
        fleet = WorkerFleet(context)
        leases = LeaseKeeper(apps, fleet)
        shards = ShardDistribution(context, apps, fleet, size: autoscaler?.workers ?? options.workers)
        registration = HostRegistration(context, apps, fleet, leases)
        handOver = LeaseHandOver(context, apps, leases, shards, registration)
        hosting = AppHosting(context, apps, fleet, shards, registration, leases, handOver)
        pressure = Pressure(context.registry, shards: context.shards, log: context.log)
        scaling = WorkerScaling(context, apps, fleet, shards, pressure, autoscaler: autoscaler)
        crashes = WorkerCrashes(context, apps, shards, handOver, scaling)
        notices = ChildNotices(
            context, apps, fleet, shards, leases, handOver, scaling, crashes, registration)
        wakeUps = ShardWakeUps(context, fleet, shards)
        listener = WakeUpListener(context, apps, wakeUps)

        status = HostReport(context, apps, fleet, shards, scaling, registration, pressure)
        service = ServiceReports(options.service, log: context.log) { [fleet, status] phase in
            fleet.killHangingChildren()
            return status.serviceStatus(in: phase)
        }
        alerts = AlertMonitor(
            context.configuration.alerts, host: context.host, registry: context.registry, log: context.log
        ) { [apps] app, event in apps[app]?.store.send(TellEvent(event)) { _ in } }
        backlog = BacklogMonitor()
        probe = RedisProbe(context.redis)
        missingHosts = MissingHosts(context, apps, registration, alerts)
        unknownApps = UnknownApps(context, registration, missingHosts)
        alertObservations = AlertObservations(
            context, apps, fleet, shards, registration, leases, crashes, pressure, backlog, missingHosts,
            unknownApps, alerts)
        metrics = MetricsEndpoint(
            context, status,
            HostMetrics(
                context, apps, fleet, shards, registration, leases, pressure, probe, backlog, alerts,
                unknownApps, status))

        let exclusive = ExclusiveChange()
        participation = HostParticipation(context, apps, shards, registration, leases, handOver)
        desired = DesiredState(context, apps, scaling, registration, leases, handOver, exclusive)
        shutdown = HostShutdown(context, apps, fleet, handOver, listener)
        upgrade = HostUpgrade(context, apps, shards, handOver, exclusive, shutdown, service, metrics)
        takeover = HostTakeover(context, apps, fleet, shards, registration, shutdown)
        reload = ConfigurationReload(
            context, apps, hosting, fleet, scaling, participation, desired, status, service, alerts,
            unknownApps, listener)
        operations = HostOperations(
            context, apps, fleet, shards, registration, status, desired, shutdown,
            HostOperations.Commands(
                scale: ScaleOperation(context, fleet, shards, scaling, participation, desired, exclusive),
                serving: ServingCommands(
                    context, apps, fleet, shards, registration, participation, exclusive),
                processes: WorkerProcessCommands(context, fleet, shards, pressure, exclusive),
                takeover: TakeoverOperation(context, apps, leases, desired),
                diagnostics: DiagnosticCommands(context, apps, fleet, status),
                upgrade: upgrade, reload: reload))
        signals = SignalHandlers(context, fleet, scaling, participation, shutdown, reload, upgrade)
    }

    /// Gives apps what they need of the host. To be called once, when the predecessor is known.
    func prepareApps(_ context: HostContext) {
        var retention = Retention()
        retention.jobRecords = context.configuration.jobRecordsKept
        retention.jobRecordSeconds = Int(context.configuration.jobRecordLife.components.seconds)
        apps.prepare(
            HostedApp.Dependencies(
                redis: context.redis, registry: context.registry, host: context.host,
                shards: context.shards, workers: context.options.workers, nonce: context.nonce,
                predecessor: registration.predecessor, retention: retention, log: context.log,
                notifyWorkers: { [fleet] order in fleet.sendToWorkers(order) },
                notifyIntake: { [fleet] order in fleet.sendToIntake(order) },
                shardsReady: { [wakeUps] app, shards in wakeUps.note(shards, of: app) },
                orderWorker: { [fleet] order in fleet.sendToOneWorker(order) },
                liveWorkers: { [fleet] in fleet.liveWorkers }))
    }
}
