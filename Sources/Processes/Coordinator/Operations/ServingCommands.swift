import EventLoop
import FarmPolicy

/// The commands `quiet`, `drain` and `resume`, for this host or for one worker.
@Loop struct ServingCommands {
    unowned let context: HostContext

    private var lifecycle: Lifecycle { context.lifecycle }
    private var host: String { context.host }

    // MARK: quiet

    func quiet(_ slot: WorkerSlot?, _ isDry: Bool, _ operation: RunningCommand) async throws(OperationRefusal)
        -> String
    {
        let name = slot.map { "worker \($0.index)" } ?? "host \(host)"
        if isDry {
            let hasNewOwners =
                slot.map { context.shards.hasOthers(than: $0.index) } ?? !context.registration.newOwners
                .isEmpty
            return "\(name) would take no new work; its shards would "
                + (hasNewOwners ? "go to others that serve" : "wait: no other can serve them")
        }
        guard let slot else { return try await quietHost(operation) }
        guard slot.index < context.shards.placement.size else {
            throw OperationRefusal("\(name) is already stopping")
        }
        let wasQuiet = context.shards.placement.isQuiet(slot.index)
        context.shards.makeQuiet(slot.index)
        _ = await context.changes.until(.now + .seconds(30)) { context.shards.isEmpty(slot.index) }
        if wasQuiet { return "\(name) was quiet already" }
        let its =
            context.shards.hasOthers(than: slot.index) ? "the others serve its shards" : "its shards wait"
        return "\(name) is quiet: \(its); resume, restart or scale wakes it"
    }

    private func quietHost(_ operation: RunningCommand) async throws(OperationRefusal) -> String {
        let wasQuiet = lifecycle.isQuiet
        context.participation.becomeQuiet()
        let isIdle = await context.changes.until(.now + .seconds(30)) {
            let busyWorkers = context.fleet.slots.count { !context.shards.isEmpty($0.index) }
            operation.progress("\(busyWorkers) workers still wait for responses")
            return busyWorkers == 0
        }
        guard isIdle else {
            throw .failed("pushes are still in flight after 30 s; the host takes no new work")
        }
        let isHandedOver = await context.changes.until(.now + HandOver.timeout + .seconds(10)) {
            let misplacedShards = context.apps.misplacedShards
            operation.progress("\(misplacedShards) shards to go")
            return context.registration.isKnownQuiet && misplacedShards == 0 || !context.redis.isReady
                || !lifecycle.isQuiet
                || lifecycle.isStopping
        }
        guard isHandedOver else {
            throw .failed("host \(host) is quiet, but still has shards that other hosts could serve")
        }
        return (wasQuiet ? "host \(host) was quiet already; " : "host \(host) is quiet; ") + quietShards
    }

    /// A text that tells the operator whether other hosts have taken over this quiet host's shards.
    private var quietShards: String {
        let end = "resume \(host) ends that"
        guard context.apps.haveLeases else { return "its shards are with \(newOwners). \(end)" }
        return context.redis.isReady
            ? "no other host can serve its shards: the pushes of these shards wait. \(end)"
            : "its shards wait until Redis is back. \(end)"
    }

    /// A text that names the hosts that take over this host's shards.
    var newOwners: String {
        let newOwners = context.registration.newOwners
        return newOwners.isEmpty ? "no host: pushes stay queued" : newOwners.joined(separator: ", ")
    }

    // MARK: resume

    /// Makes the host or the worker take new work again after ``quiet(_:_:_:)`` or ``drain(_:_:_:)``.
    func resume(_ slot: WorkerSlot?, _ isDry: Bool) async throws(OperationRefusal) -> String {
        guard let slot else { return resumeHost(isDry) }
        let name = "worker \(slot.index)"
        guard slot.index < context.shards.placement.size else {
            throw OperationRefusal("\(name) is stopping")
        }
        guard !lifecycle.isQuiet else {
            throw OperationRefusal("the whole host \(host) is quiet: use \"resume \(host)\"")
        }
        guard slot.child.state != .stopped, !context.shards.isQuietBySignal(slot.index) else {
            throw OperationRefusal("\(name) needs a new process: use \"restart \(host)/\(slot.index)\"")
        }
        guard !context.shards.placement.serves(slot.index) else { return "\(name) serves already" }
        if isDry { return "\(name) would serve again" }
        context.shards.resume(slot.index)
        return "\(name) serves again"
    }

    private func resumeHost(_ isDry: Bool) -> String {
        guard lifecycle.participation != .full else {
            let quiet = context.shards.placement.quietWorkers.map {
                "worker \($0) is quiet: resume \(host)/\($0)"
            }
            return (["host \(host) takes part already"] + quiet).joined(separator: "; ")
        }
        if isDry { return "host \(host) would take part again" }
        context.participation.resume()
        return "host \(host) takes part again"
    }

    // MARK: drain

    func drain(_ slot: WorkerSlot?, _ isDry: Bool, _ operation: RunningCommand) async throws(OperationRefusal)
        -> String
    {
        if let slot { return try await drainWorker(slot, isDry) }
        let newOwners = newOwners
        if isDry { return "would give all shards to \(newOwners)" }
        if lifecycle.isDrained, !context.apps.haveLeases { return "drained already" }
        return try await context.operationLock.run("drain") { () async throws(OperationRefusal) in
            context.participation.becomeDrained()
            let isEmpty = await context.changes.until(.now + HandOver.timeout + .seconds(10)) {
                operation.progress("\(context.apps.ownedShards) shards to go")
                return !context.apps.haveLeases
            }
            guard isEmpty else { throw .failed("not drained yet: pushes are still in flight") }
            return "empty; its shards are with \(newOwners). reload brings it back"
        }
    }

    private func drainWorker(_ slot: WorkerSlot, _ isDry: Bool) async throws(OperationRefusal) -> String {
        let index = slot.index
        guard index < context.shards.placement.size else {
            throw OperationRefusal("worker \(index) is already stopping")
        }
        if isDry { return "worker \(index) would hand its shards over to the other workers" }
        guard context.shards.hasOthers(than: index) else {
            throw OperationRefusal(
                "worker \(index) is the only one that serves: drain the host, or scale up first")
        }
        return try await context.operationLock.run("drain of worker \(index)") {
            () async throws(OperationRefusal) in
            try await context.shards.drain(index)
            return "worker \(index) is empty; resume, restart or scale wakes it"
        }
    }
}

extension ShardDistribution {
    /// Moves a worker's shards to the other workers, and returns when the worker has released all its shards.
    func drain(_ worker: Int) async throws(OperationRefusal) {
        exclude(worker)
        guard await becomesEmpty(worker, within: .seconds(30)) else {
            resume(worker)
            throw .failed(
                "worker \(worker) still waits for responses after 30 s; it serves its shards again")
        }
    }
}
