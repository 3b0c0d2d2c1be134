import EventLoop
import FarmPolicy
import StoreProtocol

/// Handles the end of a worker's process: reclaims its batches, and counts the end against the pushes it had in flight if
/// they may have caused it.
@Loop final class WorkerCrashes {
    private let context: HostContext
    private let apps: HostedApps
    private let shards: ShardDistribution
    private let handOver: LeaseHandOver
    private let scaling: WorkerScaling
    private var kills = RecentKills()
    /// By worker.
    private var crashLoops: [Int: CrashLoop] = [:]

    init(
        _ context: HostContext, _ apps: HostedApps, _ shards: ShardDistribution, _ handOver: LeaseHandOver,
        _ scaling: WorkerScaling
    ) {
        (self.context, self.apps, self.shards) = (context, apps, shards)
        (self.handOver, self.scaling) = (handOver, scaling)
    }

    func isInCrashLoop(_ place: Int, at now: ContinuousClock.Instant) -> Bool {
        crashLoops[place]?.isOn(at: now) == true
    }

    /// - Parameter name: of the process.
    func workerEnded(_ slot: WorkerSlot, name: String, cause: EndCause) async {
        shards.beginReclaim(of: slot.index)
        if cause != .orderly { crashLoops[slot.index, default: CrashLoop()].ended(at: .now) }
        let inFlight = cause == .orderly ? (shards: [], isComplete: true) : await shardsInFlight(of: name)
        let loss = loss(cause, hadSent: inFlight.shards.isEmpty ? (inFlight.isComplete ? false : nil) : true)
        var poisoned = 0
        for app in apps.all { poisoned += await app.reclaim(from: name, loss) }
        if poisoned > 0 { kills.explain() }
        shards.endReclaim(of: slot.index)
        for app in apps.all {
            let leaving = app.leases.leaving.filter { shards.worker(of: $0, app) == slot.index }
            handOver.shardsBecameEmpty(leaving, of: app)
        }
        shards.workerEnded(slot.index)
        scaling.endRetiredWorkers()
        context.changes.signal()
        if cause == .crash { shards.quarantineAfterCrash(inFlight.shards) }
        for app in apps.all { await app.feedback.workerEnded(name) }
    }

    /// The shards with pushes of the process in flight, as far as Redis knows.
    private func shardsInFlight(of name: String) async -> (shards: [ShardQuarantine.Shard], isComplete: Bool)
    {
        var shards: [ShardQuarantine.Shard] = []
        var isComplete = true
        for app in apps.all {
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
