import EventLoop
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

    /// What this host holds.
    let held: HeldLeases
    private let store: AppStore
    private let log: Logger
    private var isInTrouble = false
    /// Redis refuses the last call: a key has the wrong type, or a right is missing.
    private(set) var isRefused = false
    /// Leases that were lost or have run out so far.
    private(set) var lost = 0

    init(_ held: HeldLeases, store: AppStore, log: Logger) {
        (self.held, self.store, self.log) = (held, store, log)
    }

    /// A script said FENCED: one lease at least belongs to another owner. All are acquired again.
    func fenced() {
        if !held.isFenced, held.isOwner { lost += 1 }
        held.fenced()
    }

    // MARK: Taking and keeping

    /// Gives leases back, renews those that we have, takes those that should be ours and are free.
    func keep() async -> Outcome {
        if held.beginRound() { log.notice("acquiring leases again") }
        passChangeOn()
        do throws(StoreError) {
            while let step = held.nextStep(at: .now) {
                try await take(step)
                passChangeOn()
            }
            if isInTrouble { log.notice("leases are renewed again") }
            (isInTrouble, isRefused) = (false, false)
            return .kept
        } catch {
            if !isInTrouble { log.warning("leases not renewed", error: error) }
            isInTrouble = true
            held.failed()
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
            held.gaveBack(call)
            onRelease()
        case .renew(let call):
            let lost = held.renewed(call, try await store.perform(call))
            if lost > 0 { log.notice("leases lost", metadata: ["count": "\(lost)"]) }
            self.lost += lost
        case .acquire(let call):
            let now = ContinuousClock.now
            held.acquired(call, try await store.perform(call), at: now)
        case .sweep(let shards):
            if await onWon(shards) { held.swept(shards) }
        }
    }

    private func passChangeOn() {
        if held.takeChange() { onChange() }
    }

    /// Time is up: without Redis's confirmation nothing is ours.
    func expire() {
        guard held.isOwner else { return }
        log.error("leases expired")
        lost += held.tokens.count
        held.forgetAll()
        passChangeOn()
    }

    /// Gives everything back, so that others need not wait.
    func leave() async {
        // Before the call, so that nothing is renewed meanwhile.
        held.forgetAll()
        passChangeOn()
        // If this does not get through, the next owner waits for the lease's end.
        _ = try? await store.perform(ReleaseLeases(nonce: held.nonce, tokens: nil))
        onRelease()
    }

    // MARK: Handing over

    /// Begins to withdraw shards that others should own; the intake goes at once.
    func handOverOthers() {
        held.handOverOthers(at: .now)
        passChangeOn()
    }

    /// The host ends: everything is withdrawn, and nothing more is taken.
    func handOverAll() {
        held.handOverAll(at: .now)
        passChangeOn()
    }

    /// The next few shards go to the coordinator that follows.
    func handOverSome() {
        held.handOverSome(at: .now)
        passChangeOn()
    }

    /// Keeps shards that their workers have not released in time.
    func keepOverdue() {
        let late = held.keepOverdue(at: .now)
        guard late > 0 else { return }
        log.warning(
            "shards not handed over: their pushes are still in flight", metadata: ["shards": "\(late)"])
        passChangeOn()
    }
}
