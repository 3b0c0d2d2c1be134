import EventLoop
import FarmPolicy

/// Which worker of this host serves which shard. Sends each worker its shards whenever that changes.
///
/// A shard goes from one worker to another in two steps: only when the first one has said that it has nothing of the shard
/// any more does the second one hear of it.
@Loop final class ShardDistribution {
    private unowned let context: HostContext
    /// How many workers there are to be, and which of them each shard belongs to.
    private(set) var placement: WorkerPlacement
    /// Which worker has which shard, or has not released it yet.
    private var assignments = ShardAssignments()
    private var quarantine = ShardQuarantine()
    /// Places whose last process has exited and whose batches await reclaim: they get no shards before that.
    private var awaitingReclaim: Set<Int> = []
    /// Places whose processes a signal has made quiet.
    private var quietBySignal: Set<Int> = []

    init(_ context: HostContext) {
        self.context = context
        placement = WorkerPlacement(shards: context.shardCount, size: context.scaling.firstSize)
    }

    // MARK: Questions

    /// The worker that has the shard, if any.
    func holder(of shard: Int, _ app: HostedApp) -> Int? { assignments.holder(of: shard, app: app.name) }

    /// The worker that has the shard, else the one that is to have it.
    func worker(of shard: Int, _ app: HostedApp) -> Int {
        holder(of: shard, app) ?? placement.place(of: shard)
    }

    /// The worker has nothing of any shard.
    func isEmpty(_ place: Int) -> Bool { assignments.isEmpty(place) }

    func isQuietBySignal(_ place: Int) -> Bool { quietBySignal.contains(place) }

    /// Another worker can serve what this one has.
    func hasOthers(than place: Int) -> Bool {
        (0..<placement.active).contains { $0 != place && !placement.isSetAway($0) }
    }

    /// The greatest number of shards of one app that the place has.
    func shardCount(of place: Int) -> Int {
        context.apps.all.map { $0.shards { placement.place(of: $0) == place }.count }.max() ?? 0
    }

    /// Shards in quarantine, and for how long.
    var quarantined: [(shard: ShardQuarantine.Shard, left: Duration)] { quarantine.held(at: .now) }

    // MARK: Assigning

    /// Tells a worker which shards of an app it is to serve.
    func assign(_ app: HostedApp, to slot: WorkerSlot) {
        let isAbleToServe =
            !awaitingReclaim.contains(slot.index) && placement.serves(slot.index)
            && app.reclaim.mayServe(slot.name)
        let shards =
            !isAbleToServe
            ? []
            : app.shards { shard in
                placement.place(of: shard) == slot.index && !app.pauseSync.pausedShards.contains(shard)
                    && !quarantine.holds(.init(app: app.name, number: shard), at: .now)
            }
        let given = assignments.give(shards.map { Int($0.number) }, of: app.name, to: slot.index)
        app.noteBudget(given)
        slot.child.send(.shards(app: app.name, shards.filter { given.contains(Int($0.number)) }))
    }

    /// Tells all workers which shards of an app they are to serve.
    func assign(_ app: HostedApp) {
        for slot in context.fleet.readySlots { assign(app, to: slot) }
    }

    /// Tells all workers all their shards.
    func assignAll() {
        for app in context.apps.all { assign(app) }
    }

    /// A worker has released shards.
    /// - Returns: the workers among the others that are to have them now.
    func released(_ shards: [Int], of app: HostedApp, by slot: WorkerSlot) -> [WorkerSlot] {
        let free = assignments.released(shards, of: app.name, by: slot.index)
        let newOwners = Set(free.map { placement.place(of: $0) }).subtracting([slot.index])
        return newOwners.map { context.fleet.slots[$0] }.filter(\.child.isReady)
    }

    func forget(_ app: String) { assignments.forget(app) }

    // MARK: Places

    /// The host serves nothing, or serves again.
    func setQuiet(_ isQuiet: Bool) {
        placement.isQuiet = isQuiet
        assignAll()
    }

    /// The others serve what the worker has, until ``wake(_:)``: an operator wants it.
    func makeQuiet(_ place: Int) {
        quietBySignal.remove(place)
        placement.makeQuiet(place)
        assignAll()
    }

    /// A signal has made the worker's process quiet, one way: the others serve its shards until another process is here.
    func processBecameQuiet(_ place: Int) {
        guard !placement.isQuiet(place) else { return }
        quietBySignal.insert(place)
        placement.makeQuiet(place)
        assignAll()
    }

    /// The others serve what the worker has while it restarts or stops.
    func setAway(_ place: Int) {
        placement.setAway(place)
        assignAll()
    }

    /// Waits until the worker has nothing of any shard, or the host stops.
    func becomesEmpty(_ place: Int, within limit: Duration) async -> Bool {
        await context.changes.until(.now + limit) {
            assignments.isEmpty(place) || context.lifecycle.isStopping
        }
    }

    /// The worker serves its shards again.
    func wake(_ place: Int) { wake(place...place) }

    /// The workers serve their shards again.
    func wake(_ places: some Sequence<Int>) {
        for place in places { placement.wake(place) }
        assignAll()
    }

    /// So many workers are to be. Those beyond lose their shards; new ones get none before ``activateNewWorkers()``.
    func resize(to size: Int) {
        let isSmaller = size < placement.size
        placement.resize(to: size)
        if isSmaller { assignAll() }
    }

    /// Gives new workers their shards when all of them are ready.
    func activateNewWorkers() {
        guard placement.size > placement.active,
            context.fleet.slots.prefix(placement.size).dropFirst(placement.active).allSatisfy(\.child.isReady)
        else { return }
        placement.activateAll()
        assignAll()
    }

    // MARK: Ends

    func beginReclaim(of place: Int) { awaitingReclaim.insert(place) }

    func endReclaim(of place: Int) { awaitingReclaim.remove(place) }

    /// The worker's process has ended, and its batches are reclaimed.
    func workerEnded(_ place: Int) {
        assignments.ended(place)
        if quietBySignal.remove(place) != nil { placement.wake(place) }
        assignAll()
    }

    /// Quarantines shards that were part of several crashes, so that the worker's other shards are served.
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
