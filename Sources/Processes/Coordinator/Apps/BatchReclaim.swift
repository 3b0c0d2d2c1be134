import EventLoop
import FarmPolicy
import StoreProtocol

/// Reclaims an app's batches from workers that have exited.
@Loop final class BatchReclaim {
    private let context: AppContext
    private let leases: AppLeases
    /// Called when a reclaim has ended for which a worker had to wait, so that the worker can get shards.
    private let onRelease: @Loop () -> Void
    /// The number of pushes that failed as poison so far.
    private var poisoned = 0
    /// The running reclaims that take the batches of all workers except the named workers. The key is the number of the
    /// reclaim; the value has the names of these workers.
    private var reclaims: [Int: Set<String>] = [:]
    private var reclaimsBegun = 0
    /// Whether at least one worker must wait for shards until a reclaim has ended.
    private var isAwaitingReclaim = false

    init(_ context: AppContext, _ leases: AppLeases, onRelease: @escaping @Loop () -> Void) {
        (self.context, self.leases, self.onRelease) = (context, leases, onRelease)
    }

    /// Reclaims batches that, according to Redis, are checked out by workers that no longer run. Such batches exist,
    /// for example, after Redis has lost its latest writes.
    func reclaimUnknownBatches() async {
        _ = await reclaim({ .allBut(context.shared.liveWorkers()) }, shards: owned)
    }

    /// Whether a worker may check out batches. False if the worker started after the beginning of a reclaim that still
    /// runs: this reclaim does not know the worker and would take its batches.
    func mayServe(_ worker: String) -> Bool {
        let isKnown = reclaims.values.allSatisfy { $0.contains(worker) }
        if !isKnown { isAwaitingReclaim = true }
        return isKnown
    }

    /// The shards in which an exited worker had pushes in flight; nil if Redis does not reply in time.
    func shardsInFlight(of worker: String) async -> [ShardQuarantine.Shard]? {
        var inFlight: [ShardQuarantine.Shard] = []
        // After the lifetime of a lease without a reply from Redis, this host no longer owns the shards, so it need not
        // know the result.
        let deadline = ContinuousClock.now + SendDeadline.lease
        for portion in Self.portions(owned) {
            let request = ReadInFlightShards(worker: worker, shards: portion.map(\.number))
            do throws(StoreError) {
                let reply = try await context.store.performWithRetries(request, within: deadline - .now)
                inFlight += reply.shards.map { .init(app: context.name, number: $0) }
            } catch {
                context.log.error(
                    "cannot read which pushes a lost worker had in flight", error: error,
                    metadata: ["worker": "\(worker)"])
                return nil
            }
        }
        return inFlight
    }

    /// Reclaims the batches of an exited worker.
    ///
    /// - Returns: the number of pushes that failed as poison.
    func reclaim(from worker: String, _ exit: WorkerExit) async -> Int {
        // Retry until the reclaim succeeds, because no other host can reclaim the batches while this host owns the
        // shards.
        var backoff = BackOff.redis
        let before = poisoned
        while !(await reclaim({ .gone([worker]) }, exit, shards: owned)) {
            guard (try? await Loop.sleep(for: backoff.failed())) != nil else { break }
        }
        return poisoned - before
    }

    private var owned: [(number: Int, token: FenceToken)] {
        leases.machine.fenceTokens.sorted { $0.key < $1.key }.map { (number: $0.key, token: $0.value) }
    }

    /// Splits the shards into portions, so that no call blocks Redis for long.
    private static func portions(
        _ shards: [(number: Int, token: FenceToken)]
    ) -> [[(number: Int, token: FenceToken)]] {
        stride(from: 0, to: shards.count, by: 16).map { Array(shards[$0..<min($0 + 16, shards.count)]) }
    }

    /// - Parameter workers: which workers' batches to reclaim. Evaluated before each call to Redis, because workers may
    ///   start during the previous call.
    /// - Returns: false if Redis failed temporarily.
    func reclaim(
        _ workers: @Loop () -> Reclaim.Workers, _ exit: WorkerExit = .regular,
        shards: [(number: Int, token: FenceToken)]
    ) async -> Bool {
        for portion in Self.portions(shards) {
            do throws(StoreError) {
                let workers = workers()
                let number = begin(workers)
                defer { ended(number) }
                let reply = try await context.store.perform(Reclaim(workers, exit: exit, shards: portion))
                // If this host has released a lease during the call, Redis rejects the lease's token, as expected. Only
                // the rejection of a token that this host still has means that another host has taken the lease.
                if portion.contains(where: { shard in
                    reply.fenced.contains(shard.number)
                        && leases.machine.fenceTokens[shard.number] == shard.token
                }) {
                    leases.fenced()
                }
                context.shardsReady(reply.woken)
                poisoned += reply.poisoned
                logReclaim(reply)
            } catch {
                if error.isTemporary { return false }
                context.log.error("cannot reclaim batches", error: error)
            }
        }
        return true
    }

    private func begin(_ workers: Reclaim.Workers) -> Int {
        reclaimsBegun += 1
        if case .allBut(let names) = workers { reclaims[reclaimsBegun] = Set(names) }
        return reclaimsBegun
    }

    private func ended(_ number: Int) {
        reclaims[number] = nil
        guard isAwaitingReclaim else { return }
        isAwaitingReclaim = false
        onRelease()
    }

    private func logReclaim(_ reply: Reclaim.Reply) {
        if reply.poisoned > 0 {
            context.log.error("pushes failed as poison", metadata: ["pushes": "\(reply.poisoned)"])
        }
        for job in reply.quarantined {
            context.log.error("job quarantined: its pushes crash workers", metadata: ["job": "\(job)"])
        }
        guard reply.putBack + reply.quarantinedBatches + reply.poisoned > 0 else { return }
        context.log.notice(
            "batches reclaimed",
            metadata: [
                "batches": "\(reply.putBack)", "suspects": "\(reply.suspects)",
                "quarantined": "\(reply.quarantinedBatches)",
            ])
    }
}
