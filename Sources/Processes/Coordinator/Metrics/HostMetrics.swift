import EventLoop
import FarmPolicy

/// The coordinator's metrics for a scraper. docs/metrics.md explains each metric.
@Loop struct HostMetrics {
    unowned let context: HostContext

    /// The number of apps, in order of their names, with their own label. Further apps share the label `other`.
    private static let mostLabels = 200

    var text: String {
        var page = MetricsPage()
        page.add(
            "pushfarm_build_info", "What runs here; always 1.", true,
            ["version": context.options.version, "host": context.host])
        addProcess(to: &page)
        for slot in context.fleet.presentSlots(of: context.shards.placement.size) { add(slot, to: &page) }
        if let intake = context.fleet.intake { add(intake, to: &page) }
        addFarm(to: &page)
        for (rank, app) in context.apps.sorted.enumerated() {
            let label = rank < Self.mostLabels ? app.name : MetricReasons.other
            AppMetrics(
                app: app, label: label, heartbeats: context.fleet.heartbeats(of: app.name),
                backlog: context.backlog.readings[app.name]?.backlog
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
            "process_start_time_seconds", "When the coordinator began, since 1970.",
            Double(context.startTime) / 1000)
        page.add(
            "pushfarm_ready", "1 when leases are asked for and children are ready.",
            context.status.whyUnready == nil)
    }

    private func add(_ slot: WorkerSlot, to page: inout MetricsPage) {
        let labels: MetricsPage.Labels = ["worker": "\(slot.index)"]
        let heartbeat = slot.heartbeat
        page.add("pushfarm_worker_up", "1 when the worker is ready.", slot.child.isReady, labels)
        page.add("pushfarm_worker_restarts_total", Self.restarts, slot.child.restarts, labels)
        page.add(
            "pushfarm_worker_cpu_seconds_total", "Processor time of the worker's present process.",
            Double(heartbeat.processorTaken) / 1e6, labels)
        page.add(
            "pushfarm_worker_resident_memory_bytes", "Memory of the worker's process.",
            heartbeat.residentBytes, labels)
        page.add(
            "pushfarm_worker_connections", "Gateway connections of the worker.", heartbeat.connections, labels
        )
        page.add("pushfarm_worker_streams", "Pushes of the worker in the air.", heartbeat.openStreams, labels)
        page.add("pushfarm_worker_batches", "Batches in the worker's hands.", heartbeat.batches, labels)
    }

    private static let restarts = "Processes that followed one which crashed or was killed."

    private func add(_ intake: IntakeSlot, to page: inout MetricsPage) {
        let heartbeat = intake.heartbeat
        page.add("pushfarm_intake_up", "1 when the intake is ready.", intake.child.state == .ready)
        page.add("pushfarm_intake_restarts_total", Self.restarts, intake.child.restarts)
        page.add(
            "pushfarm_intake_jobs_total", "Jobs that the intake's present process is done with.",
            heartbeat.jobs)
        page.add(
            "pushfarm_intake_refused_jobs_total", "Jobs among them that were refused.", heartbeat.refused)
        page.add(
            "pushfarm_intake_pushes_total", "Pushes that the intake's present process put into batches.",
            heartbeat.pushes)
        page.add("pushfarm_intake_resident_memory_bytes", "Memory of the intake.", heartbeat.residentBytes)
    }

    private func addFarm(to page: inout MetricsPage) {
        let hosts = context.registration.membership.hosts.count
        page.add("pushfarm_hosts", "Hosts that live, as this one sees it.", hosts)
        page.add("pushfarm_shards", "Shards of an app.", context.shardCount)
        page.add("pushfarm_redis_up", "1 while Redis can be reached.", context.redis.isReady)
        page.add("pushfarm_redis_outages_total", "How often Redis was out of reach.", context.probe.outages)
        page.add(
            "pushfarm_redis_latency_seconds", "What Redis takes to answer a PING, asked once a second.", [:],
            context.probe.latency, bounds: 13)
        let memory = context.admission.memory
        page.add("pushfarm_redis_memory_bytes", "Memory of Redis that counts.", memory?.used ?? 0)
        page.add(
            "pushfarm_redis_memory_limit_bytes", "What Redis may use; 0 if that is not known.",
            memory?.limit ?? 0)
        page.add(
            "pushfarm_alert_failures_total", "Alerts that could not be told in three tries.",
            context.alerts.failures)
        for kind in Alert.Kind.allCases {
            page.add(
                "pushfarm_alerts_active", "Alerts that are raised and this host's to tell of.",
                context.alerts.evaluator.raised.keys.count { $0.kind == kind }, ["alert": kind.rawValue])
        }
        page.add(
            "pushfarm_stray_inboxes",
            "Inboxes of no configured app that hold jobs, as the first host sees them; 0 at others.",
            context.unknownApps.strayInboxes.count)
        page.add("pushfarm_leases_lost_total", "Leases that were lost or have run out.", context.leases.lost)
    }
}
