import EventLoop
import FarmPolicy
import Leasing
import Logging
import RedisClient
import StoreProtocol

/// Keeps an app's ``HeldLeases`` in Redis. One call at a time is under way: ``keep()`` is called by one task.
@Loop final class AppLeases {
    /// What came of a round.
    enum Outcome {
        /// Redis has confirmed: the leases hold from the moment before the call.
        case kept
        /// Redis cannot do it now. What was confirmed before holds on.
        case pending
        /// Redis will not do it for this app: nothing is ours, and other apps need not mind.
        case refused
    }

    /// Something was won, lost or withdrawn.
    var onChange: @Loop () -> Void = {}
    /// Takes back what the owners before have left in flight on these shards; false when Redis did not do it.
    var onWon: @Loop (_ shards: [HeldLeases.Shard]) async -> Bool = { _ in true }
    /// Something was given back: other hosts may want to know.
    var onRelease: @Loop () -> Void = {}

    private let heldLeases: HeldLeases
    private let store: AppStore
    private let log: Logger
    private var isInTrouble = false
    /// Redis refuses the last call: a key has the wrong type, or a right is missing.
    private(set) var isRefused = false
    /// Leases that were lost or have run out so far.
    private(set) var lost = 0

    init(_ heldLeases: HeldLeases, store: AppStore, log: Logger) {
        (self.heldLeases, self.store) = (heldLeases, store)
        var log = log
        log[metadataKey: "app"] = "\(store.keys.app)"
        self.log = log
    }

    var tokens: [Int: FenceToken] { heldLeases.tokens }
    var intake: FenceToken? { heldLeases.intake }
    var isOwner: Bool { heldLeases.isOwner }
    /// The shards that workers may serve, with the proofs.
    var served: [Int: FenceToken] { heldLeases.served }
    /// Shards that are being withdrawn from their workers.
    var leaving: Set<Int> { heldLeases.leaving }

    /// Who should own what, as far as we know.
    var shares: HostShares {
        get { heldLeases.shares }
        set { heldLeases.shares = newValue }
    }

    /// The host serves nothing.
    var isQuiet: Bool {
        get { heldLeases.isQuiet }
        set { heldLeases.isQuiet = newValue }
    }
    /// Shards of ours that others should own.
    var strangers: Int { heldLeases.strangers }

    /// A script said FENCED: one lease at least belongs to another owner. All are acquired again.
    func fenced() {
        if !heldLeases.isFenced, isOwner { lost += 1 }
        heldLeases.fenced()
    }

    /// Something may have become free, or a host joined or left: the next round is due.
    func wake() { heldLeases.wake() }

    func isDue(at now: ContinuousClock.Instant) -> Bool { heldLeases.isDue(at: now) }

    // MARK: Taking and keeping

    /// Gives leases back, renews those that we have, takes those that should be ours and are free.
    func keep() async -> Outcome {
        if heldLeases.beginRound() { log.notice("acquiring leases again") }
        passChangeOn()
        do throws(StoreError) {
            while let step = heldLeases.nextStep(at: .now) {
                try await take(step)
                passChangeOn()
            }
            if isInTrouble { log.notice("leases are renewed again") }
            (isInTrouble, isRefused) = (false, false)
            return .kept
        } catch {
            if !isInTrouble { log.warning("leases not renewed", metadata: ["error": "\(error)"]) }
            isInTrouble = true
            heldLeases.failed()
            isRefused = error.isRefusal
            guard isRefused else { return .pending }
            // At once: all apps share the workers' clock, which the other apps keep renewing.
            expire()
            return .refused
        }
    }

    private func take(_ step: HeldLeases.Step) async throws(StoreError) {
        switch step {
        case .giveBack(let call):
            _ = try await store.perform(call)
            heldLeases.gaveBack(call)
            onRelease()
        case .renew(let call):
            let lost = heldLeases.renewed(call, try await store.perform(call))
            if lost > 0 { log.notice("leases lost", metadata: ["count": "\(lost)"]) }
            self.lost += lost
        case .acquire(let call):
            let now = ContinuousClock.now
            heldLeases.acquired(call, try await store.perform(call), at: now)
        case .sweep(let shards):
            if await onWon(shards) { heldLeases.swept(shards) }
        }
    }

    private func passChangeOn() {
        if heldLeases.takeChange() { onChange() }
    }

    /// Time is up: without Redis's confirmation nothing is ours.
    func expire() {
        guard isOwner else { return }
        log.error("leases expired")
        lost += heldLeases.tokens.count
        heldLeases.forgetAll()
        passChangeOn()
    }

    /// Gives everything back, so that others need not wait.
    func leave() async {
        // Before the call, so that nothing is renewed meanwhile.
        heldLeases.forgetAll()
        passChangeOn()
        // If this does not get through, the next owner waits for the lease's end.
        _ = try? await store.perform(ReleaseLeases(nonce: heldLeases.nonce, tokens: nil))
        onRelease()
    }

    // MARK: Handing over

    /// Begins to withdraw shards that others should own; the intake goes at once.
    func handOverOthers() {
        heldLeases.handOverOthers(at: .now)
        passChangeOn()
    }

    /// The host ends: everything is withdrawn, and nothing more is taken.
    func handOverAll() {
        heldLeases.handOverAll(at: .now)
        passChangeOn()
    }

    /// The next few shards go to the coordinator that follows.
    func handOverSome() {
        heldLeases.handOverSome(at: .now)
        passChangeOn()
    }

    /// Takes a shard from its owner, which is stuck.
    func seize(_ shard: Int) { heldLeases.seize(.shard(shard)) }

    /// The host takes part again.
    func resumeTaking() { heldLeases.resumeTaking() }

    /// Our workers hold nothing of these shards: those that are leaving are given back.
    /// - Returns: whether there are such.
    @discardableResult
    func emptied(_ shards: some Sequence<Int>) -> Bool { heldLeases.emptied(shards) }

    /// Keeps shards that their workers have not released in time.
    func keepOverdue() {
        let late = heldLeases.keepOverdue(at: .now)
        guard late > 0 else { return }
        log.warning(
            "shards not handed over: their pushes are still in flight", metadata: ["shards": "\(late)"])
        passChangeOn()
    }
}
