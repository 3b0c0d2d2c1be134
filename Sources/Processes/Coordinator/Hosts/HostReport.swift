import EventLoop
import Glibc
import PushModel
import StoreProtocol

/// Reports this host's state in its heartbeat, to operators, and to the service manager.
@Loop final class HostReport {
    private unowned let context: HostContext
    /// Why the configuration file was refused when it was last read; nil if it was accepted.
    var configurationProblem: String?

    init(_ context: HostContext) { self.context = context }

    /// Why the coordinator is not ready for work; nil if it is ready.
    var whyUnready: String? {
        if context.lifecycle.isStopping { return "stopping" }
        if !context.lifecycle.hasChildren { return "starting" }
        if !context.redis.isReady { return "Redis is not reachable" }
        if context.fleet.intake?.child.state != .ready { return "the intake is not ready" }
        return context.fleet.isAnyWorkerReady ? nil : "no worker is ready"
    }

    var heartbeat: Heartbeat {
        let isLeaving = context.lifecycle.isLeaving
        return Heartbeat(
            host: context.host, nonce: context.nonce,
            // A host whose workers are all quiet reports capacity 0, so hosts with capacity get its shards.
            capacity: isLeaving || context.shards.placement.isAllQuiet
                ? 0
                : context.fleet.slots.prefix(context.scaling.capacity).count { $0.child.state != .failed },
            apps: isLeaving ? [] : context.configuration.apps.map(\.name), status: line)
    }

    private var state: String {
        if context.lifecycle.isStopping { return "stopping" }
        switch context.lifecycle.participation {
        case .full: return "running"
        case .quiet: return "quiet"
        case .drained: return "drained"
        }
    }

    /// Problems of the configuration file and of credential files. Until the user corrects a faulty file, the host uses the last
    /// correct contents of the file.
    private var problems: [String] {
        let credentials = context.apps.all.compactMap { app in
            app.credentials.pauseReason == nil
                ? app.credentials.files.problem.map { "\(app.name): \($0)" } : nil
        }
        return (configurationProblem.map { ["configuration not followed: \($0)"] } ?? [])
            + credentials.sorted().map { "credentials not followed: \($0)" }
    }

    /// The status that the service manager shows.
    func serviceStatus(in phase: ServiceStatus.Phase) -> ServiceStatus {
        let size = context.shards.placement.size
        let present = context.fleet.presentSlots(of: size)
        return ServiceStatus(
            phase: phase, isRedisThere: context.redis.isReady,
            hosts: context.registration.membership.hosts.count,
            readyWorkers: present.count(where: \.child.isReady),
            workers: context.lifecycle.isStopping ? present.count : size,
            rate: context.fleet.rate, open: context.admission.openPushes,
            paused: context.apps.all.filter { $0.credentials.pauseReason != nil }.map(\.name),
            refusal: configurationProblem)
    }
}

/// This host's part of `pushfarm status`: one JSON object that each heartbeat writes to Redis.
extension HostReport {
    private static let mostApps = 100
    private static let mostProblems = 8
    private static let mostCampaigns = 100
    private static let longestProblem = 300

    var line: [UInt8] {
        let slots = context.fleet.presentSlots(of: context.shards.placement.size)
        let apps = context.apps.all.sorted {
            ($1.context.totals.recent.rate, $0.name) < ($0.context.totals.recent.rate, $1.name)
        }
        var json = JSONText()
        json.object { json in
            json.member("host", context.host)
            json.member("pid", getpid())
            json.member("state", state)
            json.member("capacity", context.scaling.capacity)
            json.member("auto", context.scaling.isAuto)
            json.member("since", context.startTime)
            if let intake = context.fleet.intake { json.member("intake", object: { add(intake, to: &$0) }) }
            json.key("workers")
            json.array { json in for slot in slots { json.object { add(slot, to: &$0) } } }
            json.key("apps")
            json.array { json in
                for app in apps.prefix(Self.mostApps) { json.object { add(app, slots, to: &$0) } }
            }
            json.key("campaigns")
            json.array { addCampaigns(to: &$0) }
            json.key("quarantined_shards")
            json.array { json in
                for (shard, remaining) in context.shards.quarantined {
                    json.object { json in
                        json.member("app", shard.app)
                        json.member("shard", shard.number)
                        json.member("milliseconds", remaining.milliseconds)
                    }
                }
            }
            json.key("problems")
            json.array { json in
                for problem in problems.prefix(Self.mostProblems) {
                    json.value(String(problem.prefix(Self.longestProblem)))
                }
            }
        }
        return json.bytes
    }

    private func add(_ intake: IntakeSlot, to json: inout JSONText) {
        json.member("state", intake.child.state.rawValue)
        json.member("pid", intake.child.pid)
        json.member("rate", intake.rate)
        json.member("restarts", intake.child.restarts)
        json.member("rss", intake.heartbeat.residentBytes)
        json.member("jobs", intake.heartbeat.jobs)
        json.member("refused", intake.heartbeat.refused)
        json.member("pushes", intake.heartbeat.pushes)
    }

    /// Adds the campaigns of the apps whose intake is on this host. They are part of the status because not all users who may see
    /// a campaign's progress may read its record, which contains the payload.
    private func addCampaigns(to json: inout JSONText) {
        var room = Self.mostCampaigns
        for app in context.fleet.intake?.heartbeat.apps ?? [] {
            for campaign in app.campaigns.list.prefix(room) {
                room -= 1
                json.object { json in
                    json.member("app", app.name)
                    json.member("campaign", campaign.id)
                    json.member("state", campaign.state.name)
                    json.member("late", campaign.isLate)
                    json.member("round", campaign.round)
                    json.member("rounds", campaign.rounds)
                    json.member("counted", campaign.counted)
                    json.member("handled", campaign.handled)
                    json.member("total", campaign.total)
                    if let remaining = campaign.remaining { json.member("remaining_ms", remaining) }
                    if let next = campaign.next { json.member("next", next) }
                }
            }
        }
    }

    private func add(_ slot: WorkerSlot, to json: inout JSONText) {
        let heartbeat = slot.heartbeat
        let isQuiet = context.shards.placement.isQuiet(slot.index) || heartbeat.isQuiet
        json.member("worker", "\(slot.index)")
        json.member("state", isQuiet && slot.child.isReady ? "quiet" : slot.child.state.rawValue)
        json.member("pid", slot.child.pid)
        json.member("shards", context.shards.shardCount(of: slot.index))
        json.member("connections", heartbeat.connections)
        json.member("streams", heartbeat.openStreams)
        json.member("rate", slot.rate)
        json.member("slowed_to", heartbeat.slowedTo)
        json.member("restarts", slot.child.restarts)
        json.member("rss", heartbeat.residentBytes)
        json.member("delivered", heartbeat.delivered)
        json.member("failed", heartbeat.failed)
        json.member("retried", heartbeat.retried)
        json.member("busy", UInt64(clamping: (slot.busy * 100).rounded()))
        json.member("since", slot.child.pid > 0 ? slot.since : 0)
    }

    private func add(_ app: HostedApp, _ slots: [WorkerSlot], to json: inout JSONText) {
        let totals = app.context.totals
        let recent = totals.recent
        let heartbeats = slots.compactMap { slot in slot.heartbeat.apps.first { $0.name == app.name } }
        json.member("app", app.name)
        json.member("shards", app.leases.machine.fenceTokens.count)
        json.member("rate", recent.rate)
        json.member("errors", recent.errors)
        json.member("connections", heartbeats.reduce(0) { $0 + Int($1.connections) })
        json.member("streams", heartbeats.reduce(0) { $0 + Int($1.openStreams) })
        json.member("slowed_to", heartbeats.reduce(0) { $0 + Int($1.slowedTo) })
        json.member("delivered", totals.count(.delivered))
        json.member("failed", totals.count(.failed))
        json.member("retried", totals.retries.values.reduce(0, +))
        if let latency = recent.latency {
            json.member("p50", Int(clamping: latency.p50.rounded(.up)))
            json.member("p99", Int(clamping: latency.p99.rounded(.up)))
        }
        if let wait = recent.wait { json.member("wait", Int(clamping: wait.rounded(.up))) }
    }
}
