import ControlChannel
import EventLoop
import FarmPolicy

/// Sends each child its first messages, and passes the children's notices to the parts of the coordinator that handle
/// them.
@Loop final class ChildNotices {
    private unowned let context: HostContext

    init(_ context: HostContext) { self.context = context }

    // MARK: Workers

    /// Sends the first messages to a worker process that has started.
    func started(_ slot: WorkerSlot) {
        let options = context.options
        slot.child.send(
            .begin(
                redis: options.redisURL, redisTrustedCA: options.redisTrustedCA, worker: slot.name,
                index: UInt16(slot.index)))
        for app in context.apps.all {
            for message in app.credentials.messages { slot.child.send(message) }
        }
        slot.child.send(.lease(end: context.leases.end))
        if let level = context.fleet.logLevel { slot.child.send(.logLevel(level)) }
    }

    func noticed(_ notice: WorkerNotice, _ slot: WorkerSlot) {
        switch notice {
        case .hello:
            for app in context.apps.all { context.shards.assign(app, to: slot) }
            context.shards.activateNewWorkers()
            context.registration.heartbeatSoon()
        case .heartbeat(let heartbeat):
            for app in heartbeat.apps { context.apps[app.name]?.context.totals.add(app) }
            if heartbeat.isQuiet { context.shards.processBecameQuiet(slot.index) }
        case .reported(let name): context.apps[name]?.workerReported()
        case .settingRejected(let name, let setting, let generation, let reason):
            Loop.task {
                await self.context.apps[name]?.credentials.settingRejected(
                    setting, generation: generation, reason: reason)
            }
        case .credentialsAccepted(let name, let generation):
            context.apps[name]?.credentials.accepted(generation: generation)
        case .fenced(let name):
            context.apps[name]?.leases.fenced()
            context.leases.wake()
        case .feedback(let name, let reading, let tuples, let error):
            Loop.task {
                await self.context.apps[name]?.feedback.ended(
                    reading, tuples: Int(clamping: tuples), error: error)
            }
        case .deliveredPushesLost(let name, let pushes, let reason):
            context.apps[name]?.announce(.gatewayDeliveredLost, ["pushes": "\(pushes)", "reason": reason])
        case .released(let name, let numbers):
            if let app = context.apps[name] { released(numbers.map { Int($0) }, of: app, by: slot) }
        }
        context.changes.signal()
    }

    /// Handles the end of the worker process `name`. The worker's next process starts after this function returns.
    func ended(_ slot: WorkerSlot, name: String, cause: EndCause) async {
        await context.workerEnds.workerEnded(slot, name: name, cause: cause)
    }

    private func released(_ numbers: [Int], of app: HostedApp, by slot: WorkerSlot) {
        let newOwners = context.shards.released(numbers, of: app, by: slot)
        context.handOver.shardsBecameEmpty(numbers, of: app)
        for newOwner in newOwners { context.shards.assign(app, to: newOwner) }
        context.scaling.endRetiredWorkers()
    }

    // MARK: The intake

    /// Sends the first messages to an intake process that has started.
    func started(_ intake: IntakeSlot) {
        let options = context.options
        intake.child.send(
            .begin(
                redis: options.redisURL, redisTrustedCA: options.redisTrustedCA, name: intake.name,
                shards: UInt16(context.shardCount)))
        for app in context.apps.all {
            for message in app.intakeMessages { intake.child.send(message) }
        }
        if let level = context.fleet.logLevel { intake.child.send(.logLevel(level)) }
    }

    func noticed(_ notice: IntakeNotice) {
        switch notice {
        case .hello: context.registration.heartbeatSoon()
        case .heartbeat, .works, .idle: break
        case .delayed(let name, let milliseconds):
            context.apps[name]?.batchesDelayed(.milliseconds(Int64(clamping: milliseconds)))
        case .fenced(let name, let token):
            context.apps[name]?.intakeFenced(token)
            context.leases.wake()
        }
    }

    /// Handles a crash or kill of the intake process `name`, which was handling jobs of the apps in `working`. A
    /// suspect job is refused if the intake was handling the job in `limit` crashes or kills. The next intake process
    /// starts after this function returns.
    func ended(_ name: String, atWorkFor working: Set<String>, limit: Int) async {
        for app in working {
            await context.apps[app]?.intakeEnded(name, isOnlyApp: working.count == 1, limit: limit)
        }
    }
}
