import ControlChannel
import EventLoop
import FarmPolicy

/// Answers the start of each child and passes on what children say.
@Loop final class ChildNotices {
    private unowned let parts: CoordinatorParts

    init(_ parts: CoordinatorParts) { self.parts = parts }

    private var context: HostContext { parts.context }

    // MARK: Workers

    /// Gives a worker's process its first orders.
    func started(_ slot: WorkerSlot) {
        let options = context.options
        slot.child.send(
            .begin(
                redis: options.redisURL, redisAuthority: options.redisAuthority, worker: slot.name,
                index: UInt16(slot.index)))
        for app in parts.apps.all {
            for order in app.credentials.orders { slot.child.send(order) }
        }
        slot.child.send(.lease(end: parts.leases.end))
        if let level = parts.fleet.logLevel { slot.child.send(.logLevel(level)) }
    }

    func noticed(_ notice: Notice, _ slot: WorkerSlot) {
        switch notice {
        case .hello:
            for app in parts.apps.all { parts.shards.assign(app, to: slot) }
            parts.shards.activateNewWorkers()
            parts.registration.heartbeatSoon()
        case .heartbeat(let heartbeat):
            for app in heartbeat.apps { parts.apps[app.name]?.context.totals.heard(app) }
            if heartbeat.isQuiet { parts.shards.processBecameQuiet(slot.index) }
        case .reported(let name): parts.apps[name]?.workerReported()
        case .doubt(let name, let doubt, let generation, let reason):
            Loop.task {
                await self.parts.apps[name]?.credentials.doubt(doubt, generation: generation, reason: reason)
            }
        case .proved(let name, let generation): parts.apps[name]?.credentials.proved(generation: generation)
        case .fenced(let name):
            parts.apps[name]?.leases.fenced()
            parts.leases.wake()
        case .feedback(let name, let reading, let tuples, let error):
            Loop.task {
                await self.parts.apps[name]?.feedback.ended(
                    reading, tuples: Int(clamping: tuples), error: error)
            }
        case .late(let name, let pushes, let reason):
            parts.apps[name]?.announce(.gatewayLate, ["pushes": "\(pushes)", "reason": reason])
        case .released(let name, let numbers):
            if let app = parts.apps[name] { released(numbers.map { Int($0) }, of: app, by: slot) }
        }
        context.changes.signal()
    }

    /// The worker's process `name` has ended. The next one starts after the call returns.
    func ended(_ slot: WorkerSlot, name: String, cause: EndCause) async {
        await parts.crashes.workerEnded(slot, name: name, cause: cause)
    }

    private func released(_ numbers: [Int], of app: HostedApp, by slot: WorkerSlot) {
        let heirs = parts.shards.released(numbers, of: app, by: slot)
        parts.handOver.shardsBecameEmpty(numbers, of: app)
        for heir in heirs { parts.shards.assign(app, to: heir) }
        parts.scaling.endRetiredWorkers()
    }

    // MARK: The intake

    /// Gives an intake process its first orders.
    func started(_ intake: IntakeSlot) {
        let options = context.options
        intake.child.send(
            .begin(
                redis: options.redisURL, redisAuthority: options.redisAuthority, name: intake.name,
                shards: UInt16(context.shards)))
        for app in parts.apps.all {
            for order in app.intakeOrders { intake.child.send(order) }
        }
    }

    func noticed(_ notice: IntakeNotice) {
        switch notice {
        case .hello: parts.registration.heartbeatSoon()
        case .heartbeat, .works, .idle: break
        case .delayed(let name, let milliseconds):
            parts.apps[name]?.batchesDelayed(.milliseconds(Int64(clamping: milliseconds)))
        case .fenced(let name, let token):
            parts.apps[name]?.intakeFenced(token)
            parts.leases.wake()
        }
    }

    /// The intake process `name` has ended, and not in order, while it was at work on jobs of these apps: with so many ends
    /// a job is suspect. The next process starts after the call returns.
    func ended(_ name: String, atWorkFor working: Set<String>, limit: Int) async {
        for app in working {
            await parts.apps[app]?.intakeEnded(name, isAlone: working.count == 1, limit: limit)
        }
    }
}
