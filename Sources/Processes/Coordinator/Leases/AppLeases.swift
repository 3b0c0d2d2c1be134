import EventLoop
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// Keeps an app's ``Holdings`` in Redis. One call at a time is under way: ``keep()`` is called by one task.
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
    var onWon: @Loop (_ shards: [Holdings.Shard]) async -> Bool = { _ in true }
    /// Something was given back: other hosts may want to know.
    var onRelease: @Loop () -> Void = {}

    private let holdings: Holdings
    private let store: AppStore
    private let log: Logger
    private var isInTrouble = false
    /// Redis refuses the last call: a key has the wrong type, or a right is missing.
    private(set) var isRefused = false
    /// Leases that were lost or have run out so far.
    private(set) var lost = 0

    init(_ holdings: Holdings, store: AppStore, log: Logger) {
        (self.holdings, self.store) = (holdings, store)
        var log = log
        log[metadataKey: "app"] = "\(store.keys.app)"
        self.log = log
    }

    var tokens: [Int: FenceToken] { holdings.tokens }
    var intake: FenceToken? { holdings.intake }
    var isOwner: Bool { holdings.isOwner }
    /// The shards that workers may serve, with the proofs.
    var served: [Int: FenceToken] { holdings.served }
    /// Shards that are being withdrawn from their workers.
    var leaving: Set<Int> { holdings.handOver.leaving }

    /// Who should own what, as far as we know.
    var shares: HostShares {
        get { holdings.shares }
        set { holdings.shares = newValue }
    }

    /// The host serves nothing.
    var isQuiet: Bool {
        get { holdings.isQuiet }
        set { holdings.isQuiet = newValue }
    }
    /// Shards of ours that others should own.
    var strangers: Int { holdings.strangers }

    /// A script said FENCED: one lease at least belongs to another owner. All are acquired again.
    func doubt() {
        if !holdings.isDoubtful, isOwner { lost += 1 }
        holdings.doubt()
    }

    /// A look is worth a call: something may have become free, or a host came or went.
    func wake() { holdings.wake() }

    func isDue(at now: ContinuousClock.Instant) -> Bool { holdings.isDue(at: now) }

    // MARK: Taking and keeping

    /// Gives back what is to be given back, keeps what is ours, takes what should be and is free.
    func keep() async -> Outcome {
        if holdings.beginRound() { log.notice("acquiring leases again") }
        tell()
        do throws(StoreError) {
            while let step = holdings.nextStep(at: .now) {
                try await take(step)
                tell()
            }
            if isInTrouble { log.notice("leases are renewed again") }
            (isInTrouble, isRefused) = (false, false)
            return .kept
        } catch {
            if !isInTrouble { log.warning("leases not renewed", metadata: ["error": "\(error)"]) }
            isInTrouble = true
            holdings.failed()
            isRefused = error.isRefusal
            guard isRefused else { return .pending }
            // At once: the workers' clock, which all apps share, goes on with the others'.
            expire()
            return .refused
        }
    }

    private func take(_ step: Holdings.Step) async throws(StoreError) {
        switch step {
        case .giveBack(let call):
            _ = try await store.perform(call)
            holdings.gaveBack(call)
            onRelease()
        case .renew(let call):
            let lost = holdings.renewed(call, try await store.perform(call))
            if lost > 0 { log.notice("leases lost", metadata: ["count": "\(lost)"]) }
            self.lost += lost
        case .acquire(let call):
            let now = ContinuousClock.now
            holdings.acquired(call, try await store.perform(call), at: now)
        case .sweep(let shards):
            if await onWon(shards) { holdings.swept(shards) }
        }
    }

    private func tell() {
        if holdings.takeChange() { onChange() }
    }

    /// Time is up: without Redis's confirmation nothing is ours.
    func expire() {
        guard isOwner else { return }
        log.error("leases have run out")
        lost += holdings.tokens.count
        holdings.forgetAll()
        tell()
    }

    /// Gives everything back, so that others need not wait.
    func leave() async {
        // Before the call: what is given back is not renewed meanwhile.
        holdings.forgetAll()
        tell()
        // If this does not get through, the next owner waits for the lease's end.
        _ = try? await store.perform(ReleaseLeases(nonce: holdings.nonce, tokens: nil))
        onRelease()
    }

    // MARK: Handing over

    /// Begins to withdraw shards that others should own; the intake goes at once.
    func handOverOthers() {
        holdings.handOverOthers(at: .now)
        tell()
    }

    /// The host ends: everything is withdrawn, and nothing more is taken.
    func handOverAll() {
        holdings.handOverAll(at: .now)
        tell()
    }

    /// The next few shards go to the coordinator that follows.
    func handOverSome() {
        holdings.handOverSome(at: .now)
        tell()
    }

    /// Takes a shard from its owner, which is stuck.
    func seize(_ shard: Int) { holdings.seize(.shard(shard)) }

    /// The host takes part again.
    func comeBack() { holdings.comeBack() }

    /// Nothing of these shards is in our workers' hands: those that are leaving are given back.
    /// - Returns: whether there are such.
    @discardableResult
    func emptied(_ shards: some Sequence<Int>) -> Bool { holdings.emptied(shards) }

    /// Keeps shards that their workers have not let go of in time.
    func keepOverdue() {
        let late = holdings.keepOverdue(at: .now)
        guard late > 0 else { return }
        log.warning(
            "shards are not handed over: their pushes are still in the air", metadata: ["shards": "\(late)"])
        tell()
    }
}
