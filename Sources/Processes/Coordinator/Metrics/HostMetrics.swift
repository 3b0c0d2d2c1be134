import EventLoop
import FarmPolicy
import PushModel
import RedisClient
import StoreProtocol
import Supervision

/// The coordinator's numbers, as a scraper reads them. docs/metrics.md has what each means.
@Loop final class HostMetrics {
    private let context: HostContext
    private let apps: HostedApps
    private let fleet: WorkerFleet
    private let shards: ShardDistribution
    private let registration: HostRegistration
    private let leases: LeaseKeeper
    private let pressure: Pressure
    private let probe: RedisProbe
    private let backlog: BacklogMonitor
    private let alerts: AlertMonitor
    private let unknownApps: UnknownApps
    private let status: HostReport

    /// Apps beyond so many, by name, share the label `other`.
    private static let mostLabels = 200

    init(
        _ context: HostContext, _ apps: HostedApps, _ fleet: WorkerFleet, _ shards: ShardDistribution,
        _ registration: HostRegistration, _ leases: LeaseKeeper, _ pressure: Pressure, _ probe: RedisProbe,
        _ backlog: BacklogMonitor, _ alerts: AlertMonitor, _ unknownApps: UnknownApps, _ status: HostReport
    ) {
        (self.context, self.apps, self.fleet, self.shards) = (context, apps, fleet, shards)
        (self.registration, self.leases, self.pressure) = (registration, leases, pressure)
        (self.probe, self.backlog, self.alerts) = (probe, backlog, alerts)
        (self.unknownApps, self.status) = (unknownApps, status)
    }

    var text: String {
        var page = MetricsPage()
        page.add(
            "pushfarm_build_info", .gauge, "What runs here; always 1.",
            ["version": context.options.version, "host": context.host], 1)
        addProcess(to: &page)
        addChildren(to: &page)
        addFarm(to: &page)
        for (rank, app) in apps.sorted.enumerated() {
            let label = rank < Self.mostLabels ? app.name : MetricReasons.other
            AppMetrics.add(
                app, as: label, heartbeats: fleet.heartbeats(of: app.name),
                backlog: backlog.readings[app.name],
                to: &page)
        }
        return page.text
    }

    private func addProcess(to page: inout MetricsPage) {
        let time = ProcessorTime.now
        page.add(
            "process_cpu_seconds_total", .counter, "Processor time of the coordinator.",
            Double(time.taken) / 1e6)
        page.add(
            "process_resident_memory_bytes", .gauge, "Memory of the coordinator.",
            Double(ProcessMemory.residentBytes))
        page.add(
            "process_start_time_seconds", .gauge, "When the coordinator began, since 1970.",
            Double(context.startTime) / 1000)
        page.add(
            "pushfarm_ready", .gauge, "1 when leases are asked for and children are ready.",
            status.whyUnready == nil ? 1 : 0)
    }

    private func addChildren(to page: inout MetricsPage) {
        for slot in fleet.presentSlots(of: shards.placement.size) {
            let name = "\(slot.index)"
            func add(_ metric: String, _ kind: MetricsPage.Kind, _ help: String, _ value: Double) {
                page.add("pushfarm_worker_" + metric, kind, help, ["worker": name], value)
            }
            add("up", .gauge, "1 when the worker is ready.", slot.isReady ? 1 : 0)
            add(
                "restarts_total", .counter, "Processes that followed one which crashed or was killed.",
                Double(slot.restarts))
            add(
                "cpu_seconds_total", .counter, "Processor time of the worker's present process.",
                Double(slot.heartbeat.processorTaken) / 1e6)
            add(
                "resident_memory_bytes", .gauge, "Memory of the worker's process.",
                Double(slot.heartbeat.residentBytes))
            add(
                "connections", .gauge, "Gateway connections of the worker.",
                Double(slot.heartbeat.connections))
            add("streams", .gauge, "Pushes of the worker in the air.", Double(slot.heartbeat.openStreams))
            add("batches", .gauge, "Batches in the worker's hands.", Double(slot.heartbeat.batches))
        }
        guard let intake = fleet.intake else { return }
        func add(_ metric: String, _ kind: MetricsPage.Kind, _ help: String, _ value: Double) {
            page.add("pushfarm_intake_" + metric, kind, help, value)
        }
        add("up", .gauge, "1 when the intake is ready.", intake.state == .ready ? 1 : 0)
        add(
            "restarts_total", .counter, "Processes that followed one which crashed or was killed.",
            Double(intake.restarts))
        add(
            "jobs_total", .counter, "Jobs that the intake's present process is done with.",
            Double(intake.heartbeat.jobs))
        add(
            "refused_jobs_total", .counter, "Jobs among them that were refused.",
            Double(intake.heartbeat.refused))
        add(
            "pushes_total", .counter, "Pushes that the intake's present process put into batches.",
            Double(intake.heartbeat.pushes))
        add("resident_memory_bytes", .gauge, "Memory of the intake.", Double(intake.heartbeat.residentBytes))
    }

    private func addFarm(to page: inout MetricsPage) {
        page.add(
            "pushfarm_hosts", .gauge, "Hosts that live, as this one sees it.",
            Double(registration.membership.hosts.count))
        page.add("pushfarm_shards", .gauge, "Shards of an app.", Double(context.shards))
        page.add("pushfarm_redis_up", .gauge, "1 while Redis can be reached.", context.redis.isReady ? 1 : 0)
        page.add(
            "pushfarm_redis_outages_total", .counter, "How often Redis was out of reach.",
            Double(probe.outages))
        page.add(
            "pushfarm_redis_latency_seconds", "What Redis takes to answer a PING, asked once a second.", [:],
            probe.latency, bounds: 13)
        page.add(
            "pushfarm_redis_memory_bytes", .gauge, "Memory of Redis that counts.",
            Double(pressure.memory?.used ?? 0))
        page.add(
            "pushfarm_redis_memory_limit_bytes", .gauge, "What Redis may use; 0 if that is not known.",
            Double(pressure.memory?.limit ?? 0))
        page.add(
            "pushfarm_alert_failures_total", .counter, "Alerts that could not be told in three tries.",
            Double(alerts.failures))
        for kind in Alert.Kind.allCases {
            page.add(
                "pushfarm_alerts_active", .gauge, "Alerts that are raised and this host's to tell of.",
                ["alert": kind.rawValue], Double(alerts.evaluator.raised.keys.count { $0.kind == kind })
            )
        }
        page.add(
            "pushfarm_stray_inboxes", .gauge,
            "Inboxes of no configured app that hold jobs, as the first host sees them; 0 at others.",
            Double(unknownApps.strayInboxes.count))
        page.add(
            "pushfarm_leases_lost_total", .counter, "Leases that were lost or have run out.",
            Double(leases.lost))
    }
}
