import EventLoop
import FarmPolicy
import StoreProtocol

/// Handles the end of a worker process: reclaims the batches of the process. If the pushes that the process had in
/// flight may have caused its end, the end counts as a crash of these pushes.
@Loop final class WorkerEnds {
    private unowned let context: HostContext
    private var kills = RecentKills()
    /// The recent crashes of each worker, by the worker's number.
    private var crashLoops: [Int: CrashLoop] = [:]

    init(_ context: HostContext) { self.context = context }

    func isInCrashLoop(_ worker: Int, at now: ContinuousClock.Instant) -> Bool {
        crashLoops[worker]?.isOn(at: now) == true
    }

    /// - Parameter name: the name of the ended process in Redis.
    func workerEnded(_ slot: WorkerSlot, name: String, cause: EndCause) async {
        context.shards.beginReclaim(of: slot.index)
        if cause != .regular { crashLoops[slot.index, default: CrashLoop()].ended(at: .now) }
        let inFlight = cause == .regular ? (shards: [], isComplete: true) : await shardsInFlight(of: name)
        let exit = workerExit(
            cause, hadSent: inFlight.shards.isEmpty ? (inFlight.isComplete ? false : nil) : true)
        var poisoned = 0
        for app in context.apps.all { poisoned += await app.reclaim.reclaim(from: name, exit) }
        if poisoned > 0 { kills.forgetAll() }
        context.shards.endReclaim(of: slot.index)
        for app in context.apps.all {
            let leaving = app.leases.machine.leaving.filter {
                context.shards.worker(of: $0, app) == slot.index
            }
            context.handOver.shardsBecameEmpty(leaving, of: app)
        }
        context.shards.workerEnded(slot.index)
        context.scaling.endRetiredWorkers()
        context.changes.signal()
        if cause == .crash { context.shards.quarantineAfterCrash(inFlight.shards) }
        for app in context.apps.all { await app.feedback.workerEnded(name) }
    }

    /// The shards in which the process had pushes in flight. `isComplete` is false if Redis did not reply for at least
    /// one app, so that shards may be missing.
    private func shardsInFlight(of name: String) async -> (shards: [ShardQuarantine.Shard], isComplete: Bool)
    {
        var shards: [ShardQuarantine.Shard] = []
        var isComplete = true
        for app in context.apps.all {
            if let found = await app.reclaim.shardsInFlight(of: name) {
                shards += found
            } else {
                isComplete = false
            }
        }
        return (shards, isComplete)
    }

    /// - Parameter hadSent: whether the worker had pushes in flight; nil if this is unknown. If nil, the end does not
    ///   count as a crash, so no job becomes a suspect.
    private func workerExit(_ cause: EndCause, hadSent: Bool?) -> WorkerExit {
        let recent = cause == .kill ? kills.add(at: .now) : 0
        guard let hadSent else { return .regular }
        return switch cause {
        case .regular: .regular
        case .crash: .crash(hadSent: hadSent)
        case .kill: .kill(hadSent: hadSent, recent: recent)
        }
    }
}
