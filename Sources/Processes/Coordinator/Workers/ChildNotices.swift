import ControlChannel
import EventLoop
import FarmPolicy

/// Answers the start of each child and passes on what children say.
@Loop final class ChildNotices: WorkerFleet.Owner {
    private let context: HostContext
    private let apps: HostedApps
    private let fleet: WorkerFleet
    private let shards: ShardDistribution
    private let leases: LeaseKeeper
    private let handOver: LeaseHandOver
    private let scaling: WorkerScaling
    private let crashes: WorkerCrashes
    private let registration: HostRegistration

    init(
        _ context: HostContext, _ apps: HostedApps, _ fleet: WorkerFleet, _ shards: ShardDistribution,
        _ leases: LeaseKeeper, _ handOver: LeaseHandOver, _ scaling: WorkerScaling, _ crashes: WorkerCrashes,
        _ registration: HostRegistration
    ) {
        (self.context, self.apps, self.fleet, self.shards) = (context, apps, fleet, shards)
        (self.leases, self.handOver, self.scaling) = (leases, handOver, scaling)
        (self.crashes, self.registration) = (crashes, registration)
    }

    // MARK: Workers

    func started(_ slot: WorkerSlot) {
        fleet.begin(slot, credentials: apps.all.flatMap(\.credentials.orders), leaseEnd: leases.end)
    }

    func noticed(_ notice: Notice, _ slot: WorkerSlot) {
        switch notice {
        case .hello:
            for app in apps.all { shards.assign(app, to: slot) }
            shards.activateNewWorkers()
            registration.sendHeartbeatSoon()
        case .heartbeat(let heartbeat):
            for app in heartbeat.apps { apps[app.name]?.context.totals.heard(app) }
            if heartbeat.isQuiet { shards.processBecameQuiet(slot.index) }
        case .reported(let name): apps[name]?.workerReported()
        case .doubt(let name, let doubt, let generation, let reason):
            Loop.task {
                await self.apps[name]?.credentials.doubt(doubt, generation: generation, reason: reason)
            }
        case .proved(let name, let generation): apps[name]?.credentials.proved(generation: generation)
        case .fenced(let name):
            apps[name]?.leases.fenced()
            leases.wake()
        case .feedback(let name, let reading, let tuples, let error):
            Loop.task {
                await self.apps[name]?.feedback.ended(reading, tuples: Int(clamping: tuples), error: error)
            }
        case .late(let name, let pushes, let reason): apps[name]?.announceLateReply(pushes, reason)
        case .released(let name, let numbers):
            if let app = apps[name] { released(numbers.map { Int($0) }, of: app, by: slot) }
        }
        context.changes.signal()
    }

    private func released(_ numbers: [Int], of app: HostedApp, by slot: WorkerSlot) {
        let heirs = shards.released(numbers, of: app, by: slot)
        handOver.shardsBecameEmpty(numbers, of: app)
        for heir in heirs { shards.assign(app, to: heir) }
        scaling.endRetiredWorkers()
    }

    func ended(_ slot: WorkerSlot, name: String, cause: EndCause) async {
        await crashes.workerEnded(slot, name: name, cause: cause)
    }

    // MARK: The intake

    func started(_ intake: IntakeSlot) {
        let options = context.options
        intake.send(
            .begin(
                redis: options.redisURL, redisAuthority: options.redisAuthority, name: intake.name,
                shards: UInt16(context.shards)))
        for app in apps.all {
            for order in app.intakeOrders { intake.send(order) }
        }
    }

    func noticed(_ notice: IntakeNotice) {
        switch notice {
        case .hello: registration.sendHeartbeatSoon()
        case .heartbeat, .works, .idle: break
        case .delayed(let name, let milliseconds):
            apps[name]?.batchesDelayed(.milliseconds(Int64(clamping: milliseconds)))
        case .fenced(let name, let token):
            apps[name]?.intakeFenced(token)
            leases.wake()
        }
    }

    func ended(_ name: String, atWorkFor working: Set<String>, limit: Int) async {
        for app in working { await apps[app]?.intakeEnded(name, isAlone: working.count == 1, limit: limit) }
    }
}
