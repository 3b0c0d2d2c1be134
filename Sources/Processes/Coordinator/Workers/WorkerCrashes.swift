import EventLoop
import FarmPolicy
import StoreProtocol

/// Handles the end of a worker's process: reclaims its batches, and counts the end against the pushes it had in flight if
/// they may have caused it.
@Loop final class WorkerCrashes {
    private unowned let parts: CoordinatorParts
    private var kills = RecentKills()
    /// By worker.
    private var crashLoops: [Int: CrashLoop] = [:]

    init(_ parts: CoordinatorParts) { self.parts = parts }

    private var context: HostContext { parts.context }

    func isInCrashLoop(_ place: Int, at now: ContinuousClock.Instant) -> Bool {
        crashLoops[place]?.isOn(at: now) == true
    }

    /// - Parameter name: of the process.
    func workerEnded(_ slot: WorkerSlot, name: String, cause: EndCause) async {
        parts.shards.beginReclaim(of: slot.index)
        if cause != .orderly { crashLoops[slot.index, default: CrashLoop()].ended(at: .now) }
        let inFlight = cause == .orderly ? (shards: [], isComplete: true) : await shardsInFlight(of: name)
        let loss = loss(cause, hadSent: inFlight.shards.isEmpty ? (inFlight.isComplete ? false : nil) : true)
        var poisoned = 0
        for app in parts.apps.all { poisoned += await app.reclaim(from: name, loss) }
        if poisoned > 0 { kills.explain() }
        parts.shards.endReclaim(of: slot.index)
        for app in parts.apps.all {
            let leaving = app.leases.held.leaving.filter { parts.shards.worker(of: $0, app) == slot.index }
            parts.handOver.shardsBecameEmpty(leaving, of: app)
        }
        parts.shards.workerEnded(slot.index)
        parts.scaling.endRetiredWorkers()
        context.changes.signal()
        if cause == .crash { parts.shards.quarantineAfterCrash(inFlight.shards) }
        for app in parts.apps.all { await app.feedback.workerEnded(name) }
    }

    /// The shards with pushes of the process in flight, as far as Redis knows.
    private func shardsInFlight(of name: String) async -> (shards: [ShardQuarantine.Shard], isComplete: Bool)
    {
        var shards: [ShardQuarantine.Shard] = []
        var isComplete = true
        for app in parts.apps.all {
            if let found = await app.shardsInFlight(of: name) { shards += found } else { isComplete = false }
        }
        return (shards, isComplete)
    }

    /// - Parameter hadSent: nil when that is unknown: then no job is blamed.
    private func loss(_ cause: EndCause, hadSent: Bool?) -> WorkerLoss {
        let recent = cause == .kill ? kills.add(at: .now) : 0
        guard let hadSent else { return .innocent }
        return switch cause {
        case .orderly: .innocent
        case .crash: .crash(hadSent: hadSent)
        case .kill: .kill(hadSent: hadSent, recent: recent)
        }
    }
}
