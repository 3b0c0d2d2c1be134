import EventLoop
import FarmPolicy

/// The coordinator's metrics for a scraper. docs/metrics.md explains each metric.
@Loop struct HostMetrics {
    unowned let context: HostContext

    /// The maximum number of apps with their own label value. If the host has more apps, the apps whose names come
    /// first in the alphabet get their own label value, and all further apps share the label value `other`.
    private static let mostLabels = 200

    var text: String {
        var page = MetricsPage()
        page.add(
            "pushfarm_build_info", "The version and the host, as labels; always 1.", true,
            ["version": context.options.version, "host": context.host])
        addProcess(to: &page)
        for slot in context.fleet.presentSlots(of: context.shards.placement.size) { add(slot, to: &page) }
        if let intake = context.fleet.intake { add(intake, to: &page) }
        addFarm(to: &page)
        for (rank, app) in context.apps.sorted.enumerated() {
            let label = rank < Self.mostLabels ? app.name : MetricReasons.other
            AppMetrics(
                app: app, label: label, heartbeats: context.fleet.heartbeats(of: app.name),
                backlog: context.backlog.readings[app.name]?.backlog,
                intake: context.fleet.intakeNumbers(of: app.name)
            ).add(to: &page)
        }
        return page.text
    }

    private func addProcess(to page: inout MetricsPage) {
        page.add(
            "process_cpu_seconds_total", "Processor time of the coordinator.",
            Double(ProcessorTime.now.taken) / 1e6)
        page.add("process_resident_memory_bytes", "Memory of the coordinator.", ProcessMemory.residentBytes)
        page.add(
            "process_start_time_seconds", "When the coordinator started, in seconds since 1970.",
            Double(context.startTime) / 1000)
        page.add(
            "pushfarm_ready", "1 when the coordinator is ready for work.",
            context.status.whyUnready == nil)
    }

    private func add(_ slot: WorkerSlot, to page: inout MetricsPage) {
        let labels: MetricsPage.Labels = ["worker": "\(slot.index)"]
        let heartbeat = slot.heartbeat
        page.add("pushfarm_worker_up", "1 when the worker is ready.", slot.child.isReady, labels)
        page.add("pushfarm_worker_restarts_total", Self.restarts, slot.child.restarts, labels)
        page.add(
            "pushfarm_worker_cpu_seconds_total", "Processor time of the worker's current process.",
            Double(heartbeat.processorTaken) / 1e6, labels)
        page.add(
            "pushfarm_worker_resident_memory_bytes", "Memory of the worker's process.",
            heartbeat.residentBytes, labels)
        page.add(
            "pushfarm_worker_connections", "Gateway connections of the worker.", heartbeat.connections, labels
        )
        page.add("pushfarm_worker_streams", "The worker's pushes in flight.", heartbeat.openStreams, labels)
        page.add(
            "pushfarm_worker_batches", "Batches that the worker has checked out.", heartbeat.batches, labels)
    }

    private static let restarts = "Restarts after a crash or a kill."

    private func add(_ intake: IntakeSlot, to page: inout MetricsPage) {
        let heartbeat = intake.heartbeat
        page.add("pushfarm_intake_up", "1 when the intake is ready.", intake.child.state == .ready)
        page.add("pushfarm_intake_restarts_total", Self.restarts, intake.child.restarts)
        page.add(
            "pushfarm_intake_jobs_total", "Jobs that the current intake process has finished.",
            heartbeat.jobs)
        page.add(
            "pushfarm_intake_refused_jobs_total", "Jobs refused by the intake process.", heartbeat.refused)
        page.add(
            "pushfarm_intake_pushes_total", "Pushes that the current intake process put into batches.",
            heartbeat.pushes)
        page.add(
            "pushfarm_intake_device_inputs_total",
            "Device inputs that the current intake process has finished.", heartbeat.deviceInputs)
        page.add(
            "pushfarm_intake_refused_device_inputs_total", "Device inputs refused by the intake process.",
            heartbeat.refusedDeviceInputs)
        page.add("pushfarm_intake_resident_memory_bytes", "Memory of the intake.", heartbeat.residentBytes)
    }

    private func addFarm(to page: inout MetricsPage) {
        let hosts = context.registration.membership.hosts.count
        page.add("pushfarm_hosts", "Hosts of the farm with a heartbeat.", hosts)
        page.add("pushfarm_shards", "Shards per app.", context.shardCount)
        page.add("pushfarm_redis_up", "1 while Redis is reachable.", context.redis.isReady)
        page.add(
            "pushfarm_redis_outages_total", "Outages of Redis that this coordinator saw.",
            context.probe.outages)
        page.add(
            "pushfarm_redis_latency_seconds", "Duration of a PING to Redis, sent once a second.", [:],
            context.probe.latency, bounds: 13)
        let memory = context.admission.memory
        page.add("pushfarm_redis_memory_bytes", "Memory that Redis uses.", memory?.used ?? 0)
        page.add(
            "pushfarm_redis_memory_limit_bytes", "Memory that Redis may use; 0 if unknown.",
            memory?.limit ?? 0)
        page.add(
            "pushfarm_alert_failures_total", "Alert notifications that failed three times.",
            context.alerts.failures)
        for kind in Alert.Kind.allCases {
            page.add(
                "pushfarm_alerts_active", "Active alerts that this host reports.",
                context.alerts.evaluator.active.keys.count { $0.kind == kind }, ["alert": kind.rawValue])
        }
        page.add(
            "pushfarm_stray_inboxes",
            "Inboxes with jobs of unconfigured apps; 0 except on the first host.",
            context.unknownApps.strayInboxes.count)
        page.add(
            "pushfarm_leases_lost_total", "Leases that this host lost or let expire.", context.leases.lost)
    }
}
