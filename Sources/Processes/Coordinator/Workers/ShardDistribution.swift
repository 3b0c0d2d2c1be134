import EventLoop
import FarmPolicy

/// Decides which worker of this host serves which shard, and sends each worker its shards after every change.
///
/// A shard moves from one worker to another in two steps. First the old worker loses the shard. The new worker gets the
/// shard when the old worker has reported that it has no more batches of the shard.
@Loop final class ShardDistribution {
    private unowned let context: HostContext
    /// The desired number of workers, and the worker that should serve each shard.
    private(set) var placement: WorkerPlacement
    /// For each shard, the worker that serves the shard or has not released it yet.
    private var assignments = ShardAssignments()
    private var quarantine = ShardQuarantine()
    /// Workers whose process has exited and whose batches are not reclaimed yet. Until the reclaim has ended, these
    /// workers get no shards.
    private var awaitingReclaim: Set<Int> = []
    /// Workers that became quiet by a signal.
    private var quietBySignal: Set<Int> = []

    init(_ context: HostContext) {
        self.context = context
        placement = WorkerPlacement(shards: context.shardCount, size: context.scaling.firstSize)
    }

    // MARK: Questions

    /// The worker that serves the shard or has not released the shard yet; nil if no worker does.
    func worker(serving shard: Int, _ app: HostedApp) -> Int? {
        assignments.worker(serving: shard, app: app.name)
    }

    /// The worker that serves the shard or has not released the shard yet. If no worker does, the worker that should
    /// serve the shard.
    func worker(of shard: Int, _ app: HostedApp) -> Int {
        worker(serving: shard, app) ?? placement.worker(of: shard)
    }

    /// Whether the worker has released all its shards.
    func isEmpty(_ worker: Int) -> Bool { assignments.isEmpty(worker) }

    func isQuietBySignal(_ worker: Int) -> Bool { quietBySignal.contains(worker) }

    /// Whether this host has a worker, apart from `worker`, that can serve shards.
    func hasOthers(than worker: Int) -> Bool {
        (0..<placement.active).contains { $0 != worker && !placement.isExcluded($0) }
    }

    /// The largest number of shards of one app that this worker should serve.
    func shardCount(of worker: Int) -> Int {
        context.apps.all.map { $0.shards { placement.worker(of: $0) == worker }.count }.max() ?? 0
    }

    /// The quarantined shards, each with the remaining time of its quarantine.
    var quarantined: [(shard: ShardQuarantine.Shard, remaining: Duration)] { quarantine.held(at: .now) }

    // MARK: Assigning

    /// Tells a worker which shards of an app it should serve.
    func assign(_ app: HostedApp, to slot: WorkerSlot) {
        let isAbleToServe =
            !awaitingReclaim.contains(slot.index) && placement.serves(slot.index)
            && app.reclaim.mayServe(slot.name)
        let shards =
            !isAbleToServe
            ? []
            : app.shards { shard in
                placement.worker(of: shard) == slot.index && !app.pauseSync.pausedShards.contains(shard)
                    && !quarantine.holds(.init(app: app.name, number: shard), at: .now)
            }
        let given = assignments.give(shards.map { Int($0.number) }, of: app.name, to: slot.index)
        app.noteBudget(given)
        slot.child.send(.shards(app: app.name, shards.filter { given.contains(Int($0.number)) }))
    }

    /// Tells all workers which shards of an app they should serve.
    func assign(_ app: HostedApp) {
        for slot in context.fleet.readySlots { assign(app, to: slot) }
    }

    /// Tells all workers which shards they should serve.
    func assignAll() {
        for app in context.apps.all { assign(app) }
    }

    /// Handles a worker's notice that it has released shards.
    /// - Returns: the ready workers, except `slot`, that should serve the released shards now.
    func released(_ shards: [Int], of app: HostedApp, by slot: WorkerSlot) -> [WorkerSlot] {
        let free = assignments.released(shards, of: app.name, by: slot.index)
        let newOwners = Set(free.map { placement.worker(of: $0) }).subtracting([slot.index])
        return newOwners.map { context.fleet.slots[$0] }.filter(\.child.isReady)
    }

    func forget(_ app: String) { assignments.forget(app) }

    // MARK: Places

    /// If `isQuiet` is true, takes all shards from the workers. If false, gives the workers their shards back.
    func setQuiet(_ isQuiet: Bool) {
        placement.isQuiet = isQuiet
        assignAll()
    }

    /// Makes a worker quiet for an operator. Other workers serve the worker's shards until ``resume(_:)``.
    func makeQuiet(_ worker: Int) {
        quietBySignal.remove(worker)
        placement.makeQuiet(worker)
        assignAll()
    }

    /// Handles the notice of a worker process that a signal has made quiet. Other workers serve the worker's shards
    /// until the process has ended.
    func processBecameQuiet(_ worker: Int) {
        guard !placement.isQuiet(worker) else { return }
        quietBySignal.insert(worker)
        placement.makeQuiet(worker)
        assignAll()
    }

    /// Makes the other workers serve the worker's shards while the worker restarts or stops.
    func exclude(_ worker: Int) {
        placement.exclude(worker)
        assignAll()
    }

    /// Waits until the worker has released all its shards or the host stops, at most for the time `limit`. Returns
    /// false after this time.
    func becomesEmpty(_ worker: Int, within limit: Duration) async -> Bool {
        await context.changes.until(.now + limit) {
            assignments.isEmpty(worker) || context.lifecycle.isStopping
        }
    }

    /// Makes the worker serve its shards again.
    func resume(_ worker: Int) { resume(worker...worker) }

    /// Makes the workers serve their shards again.
    func resume(_ workers: some Sequence<Int>) {
        for worker in workers { placement.resume(worker) }
        assignAll()
    }

    /// Sets the number of workers. Surplus workers lose their shards. New workers get no shards before
    /// ``activateNewWorkers()``.
    func resize(to size: Int) {
        let isSmaller = size < placement.size
        placement.resize(to: size)
        if isSmaller { assignAll() }
    }

    /// Gives the new workers their shards when all new workers are ready.
    func activateNewWorkers() {
        guard placement.size > placement.active,
            context.fleet.slots.prefix(placement.size).dropFirst(placement.active).allSatisfy(\.child.isReady)
        else { return }
        placement.activateAll()
        assignAll()
    }

    // MARK: Ends

    func beginReclaim(of worker: Int) { awaitingReclaim.insert(worker) }

    func endReclaim(of worker: Int) { awaitingReclaim.remove(worker) }

    /// Makes a worker's shards free for other workers after its process has exited and its batches are reclaimed.
    func workerEnded(_ worker: Int) {
        assignments.ended(worker)
        if quietBySignal.remove(worker) != nil { placement.resume(worker) }
        assignAll()
    }

    /// Quarantines each shard that had pushes in flight in several crashes, so that its pushes do not crash the worker
    /// again and the worker can serve its other shards.
    func quarantineAfterCrash(_ shards: [ShardQuarantine.Shard]) {
        for (shard, duration, crashes) in quarantine.crashed(shards, at: .now) {
            context.log.error(
                "shard quarantined: its pushes were in flight in every crash",
                metadata: [
                    "app": "\(shard.app)", "shard": "\(shard.number)", "crashes": "\(crashes)",
                    "for": "\(duration)",
                ])
            guard let app = context.apps[shard.app] else { continue }
            app.announce(
                .shardQuarantined,
                [
                    "shard": "\(shard.number)", "reason": "crashes", "crashes": "\(crashes)",
                    "seconds": "\(duration.components.seconds)",
                ])
            Loop.task {
                try await Loop.sleep(for: duration)
                self.assignAll()
            }
        }
    }

    /// Ends the quarantine of all shards.
    func releaseQuarantine() {
        guard !quarantine.isEmpty else { return }
        quarantine.release()
        assignAll()
    }
}
