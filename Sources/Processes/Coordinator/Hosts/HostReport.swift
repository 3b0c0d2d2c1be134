import EventLoop
import FarmPolicy
import StoreProtocol

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// This host's state, for its heartbeat, for operators, and for the service manager.
@Loop final class HostReport {
    private let context: HostContext
    private let apps: HostedApps
    private let fleet: WorkerFleet
    private let shards: ShardDistribution
    private let scaling: WorkerScaling
    private let registration: HostRegistration
    private let pressure: Pressure
    /// Why the configuration on disk was refused when it was last read.
    var configurationProblem: String?

    init(
        _ context: HostContext, _ apps: HostedApps, _ fleet: WorkerFleet, _ shards: ShardDistribution,
        _ scaling: WorkerScaling, _ registration: HostRegistration, _ pressure: Pressure
    ) {
        (self.context, self.apps, self.fleet, self.shards) = (context, apps, fleet, shards)
        (self.scaling, self.registration, self.pressure) = (scaling, registration, pressure)
    }

    /// Why the coordinator is not ready for work; nil when it is.
    var whyUnready: String? {
        if context.lifecycle.isStopping { return "stopping" }
        if !context.lifecycle.hasChildren { return "starting" }
        if !context.redis.isReady { return "Redis is not reachable" }
        if fleet.intake?.state != .ready { return "the intake is not ready" }
        return fleet.isAnyWorkerReady ? nil : "no worker is ready"
    }

    var heartbeat: Heartbeat {
        let isLeaving = context.lifecycle.isLeaving
        return Heartbeat(
            host: context.host, nonce: context.nonce,
            // The shards of a host whose workers are all quiet go to other hosts, if any of them serves.
            capacity: isLeaving || shards.placement.isAllQuiet
                ? 0 : fleet.slots.prefix(scaling.capacity).count { $0.state != .failed },
            apps: isLeaving ? [] : context.configuration.apps.map(\.name), status: line)
    }

    /// What `pushfarm status` shows of this host, in JSON.
    var line: [UInt8] {
        let placement = shards.placement
        return HostLine(
            host: context.host, pid: getpid(), state: state,
            capacity: scaling.capacity, isAuto: scaling.isAuto, since: context.startTime,
            intake: fleet.intake,
            slots: fleet.presentSlots(of: placement.size).map { slot in
                (
                    slot, placement.isQuiet(slot.index) || slot.heartbeat.isQuiet,
                    shards.shardCount(of: slot.index)
                )
            },
            apps: apps.all.map { ($0.name, $0.leases.tokens.count, $0.context.totals) }.sorted {
                ($1.2.pace.rate, $0.0) < ($0.2.pace.rate, $1.0)
            },
            quarantined: shards.quarantined.map { ($0.shard.app, $0.shard.number, $0.left) },
            problems: problems
        ).json
    }

    private var state: String {
        if context.lifecycle.isStopping { return "stopping" }
        switch context.lifecycle.participation {
        case .full: return "running"
        case .quiet: return "quiet"
        case .drained: return "drained"
        }
    }

    /// Faults of files while the host uses what it has read before.
    private var problems: [String] {
        let credentials = apps.all.compactMap { app in
            app.credentials.pauseReason == nil ? app.credentials.problem.map { "\(app.name): \($0)" } : nil
        }
        return (configurationProblem.map { ["configuration not followed: \($0)"] } ?? [])
            + credentials.sorted().map { "credentials not followed: \($0)" }
    }

    /// What the service manager shows.
    func serviceStatus(in phase: ServiceStatus.Phase) -> ServiceStatus {
        let size = shards.placement.size
        let present = fleet.presentSlots(of: size)
        return ServiceStatus(
            phase: phase, isRedisThere: context.redis.isReady, hosts: registration.membership.hosts.count,
            readyWorkers: present.count(where: \.isReady),
            workers: context.lifecycle.isStopping ? present.count : size,
            rate: fleet.rate, open: pressure.openPushes,
            paused: apps.all.filter { $0.credentials.pauseReason != nil }.map(\.name),
            refusal: configurationProblem)
    }
}
