import EventLoop
import FarmPolicy
import StoreProtocol

/// Handles the end of a worker's process: reclaims its batches, and counts the end against the pushes it had in flight if
/// they may have caused it.
@Loop final class WorkerCrashes {
    private unowned let context: HostContext
    private var kills = RecentKills()
    /// By worker.
    private var crashLoops: [Int: CrashLoop] = [:]

    init(_ context: HostContext) { self.context = context }

    func isInCrashLoop(_ place: Int, at now: ContinuousClock.Instant) -> Bool {
        crashLoops[place]?.isOn(at: now) == true
    }

    /// - Parameter name: of the process.
    func workerEnded(_ slot: WorkerSlot, name: String, cause: EndCause) async {
        context.shards.beginReclaim(of: slot.index)
        if cause != .orderly { crashLoops[slot.index, default: CrashLoop()].ended(at: .now) }
        let inFlight = cause == .orderly ? (shards: [], isComplete: true) : await shardsInFlight(of: name)
        let loss = loss(cause, hadSent: inFlight.shards.isEmpty ? (inFlight.isComplete ? false : nil) : true)
        var poisoned = 0
        for app in context.apps.all { poisoned += await app.reclaim.reclaim(from: name, loss) }
        if poisoned > 0 { kills.explain() }
        context.shards.endReclaim(of: slot.index)
        for app in context.apps.all {
            let leaving = app.leases.held.leaving.filter { context.shards.worker(of: $0, app) == slot.index }
            context.handOver.shardsBecameEmpty(leaving, of: app)
        }
        context.shards.workerEnded(slot.index)
        context.scaling.endRetiredWorkers()
        context.changes.signal()
        if cause == .crash { context.shards.quarantineAfterCrash(inFlight.shards) }
        for app in context.apps.all { await app.feedback.workerEnded(name) }
    }

    /// The shards with pushes of the process in flight, as far as Redis knows.
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

    /// - Parameter hadSent: nil when that is unknown: then no job is suspected.
    private func loss(_ cause: EndCause, hadSent: Bool?) -> WorkerLoss {
        let recent = cause == .kill ? kills.add(at: .now) : 0
        guard let hadSent else { return .unrelated }
        return switch cause {
        case .orderly: .unrelated
        case .crash: .crash(hadSent: hadSent)
        case .kill: .kill(hadSent: hadSent, recent: recent)
        }
    }
}
