import EventLoop
import Leasing
import Logging
import RedisClient
import StoreProtocol

/// Acquires and renews an app's leases in Redis, as its ``LeaseStateMachine`` says. Only one task calls ``runRound()``, so calls do not overlap.
@Loop final class AppLeases {
    /// The result of one call of ``runRound()``.
    enum Outcome {
        /// Redis has confirmed the leases. The lifetime of the leases counts from the start of the call.
        case kept
        /// Redis failed temporarily. Leases that Redis confirmed earlier stay valid until they expire.
        case pending
        /// Redis refuses this app's leases. This host then owns none of the leases; other apps are not affected.
        case refused
    }

    /// Called after leases were acquired, lost or withdrawn.
    var onChange: @Loop () -> Void = {}
    /// Reclaims batches that previous owners of these shards had checked out. Returns false if Redis failed.
    var onAcquired: @Loop (_ shards: [LeaseStateMachine.Shard]) async -> Bool = { _ in true }
    /// Called when leases were released, to inform the other hosts, which can acquire the leases now.
    var onRelease: @Loop () -> Void = {}

    /// The leases that this host holds.
    let machine: LeaseStateMachine
    private let store: AppRedis
    private let log: Logger
    private var isInTrouble = false
    /// Whether Redis refused the last call, because a key has the wrong type or the Redis user lacks a right.
    private(set) var isRefused = false
    /// The number of leases that were lost or have expired so far.
    private(set) var lost = 0

    init(_ machine: LeaseStateMachine, store: AppRedis, log: Logger) {
        (self.machine, self.store, self.log) = (machine, store, log)
    }

    /// Handles the reply FENCED: another owner has at least one of the leases. All leases are then acquired again.
    func fenced() {
        if !machine.isFenced, machine.isOwner { lost += 1 }
        machine.fenced()
    }

    // MARK: Acquiring and renewing

    /// Releases withdrawn leases, renews held leases, and acquires free leases that this host should own.
    func runRound() async -> Outcome {
        if machine.beginRound() { log.notice("acquiring leases again") }
        passChangeOn()
        do throws(StoreError) {
            while let step = machine.nextStep(at: .now) {
                try await perform(step)
                passChangeOn()
            }
            if isInTrouble { log.notice("leases are renewed again") }
            (isInTrouble, isRefused) = (false, false)
            return .kept
        } catch {
            if !isInTrouble { log.warning("cannot renew leases", error: error) }
            isInTrouble = true
            machine.failed()
            isRefused = error.isRefusal
            guard isRefused else { return .pending }
            // Give up the app's leases here. All apps share the workers' lease clock, and the rounds of the other apps keep
            // advancing this clock, so the clock would not stop the app's pushes.
            expire()
            return .refused
        }
    }

    private func perform(_ step: LeaseStateMachine.Step) async throws(StoreError) {
        switch step {
        case .release(let call):
            _ = try await store.perform(call)
            machine.released(call)
            onRelease()
        case .renew(let call):
            let lost = machine.renewed(call, try await store.perform(call))
            if lost > 0 { log.notice("leases lost", metadata: ["count": "\(lost)"]) }
            self.lost += lost
        case .acquire(let call):
            let now = ContinuousClock.now
            machine.acquired(call, try await store.perform(call), at: now)
        case .reclaim(let shards):
            if await onAcquired(shards) { machine.reclaimed(shards) }
        }
    }

    private func passChangeOn() {
        if machine.takeChange() { onChange() }
    }

    /// Gives up all leases, because Redis refused them or did not confirm them in time.
    func expire() {
        guard machine.isOwner else { return }
        log.error("leases expired")
        lost += machine.fenceTokens.count
        machine.forgetAll()
        passChangeOn()
    }

    /// Releases all leases, so that other hosts need not wait for their expiry.
    func leave() async {
        // Forget the leases before the call, so that they are not renewed during the call.
        machine.forgetAll()
        passChangeOn()
        // If this call fails, the next owner waits until the leases expire.
        _ = try? await store.perform(ReleaseLeases(nonce: machine.nonce, tokens: nil))
        onRelease()
    }

    // MARK: Handing over

    /// Begins to withdraw shards that other hosts should own. The intake is handed over at once.
    func handOverOthers() {
        machine.handOverOthers(at: .now)
        passChangeOn()
    }

    /// Begins to withdraw all leases of the app, and acquires no lease of the app any more.
    func handOverAll() {
        machine.handOverAll(at: .now)
        passChangeOn()
    }

    /// Begins to hand the next few shards over to the successor.
    func handOverSome() {
        machine.handOverSome(at: .now)
        passChangeOn()
    }

    /// If workers have not released their leaving shards in time, cancels the hand-over of these shards.
    func keepOverdue() {
        let late = machine.keepOverdue(at: .now)
        guard late > 0 else { return }
        log.warning(
            "cannot hand over shards: their pushes are still in flight", metadata: ["shards": "\(late)"])
        passChangeOn()
    }
}
