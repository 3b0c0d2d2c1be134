package import FarmPolicy
package import StoreProtocol

/// The leases of one app's intake and shards that this host holds. Methods record events, and ``nextStep(at:)`` returns the next
/// call to Redis.
///
/// A round is a sequence of ``Step``s. First, the host releases leases. Second, it renews its leases. Third, it acquires free
/// leases that placement assigns to it. It acquires free leases that placement assigns to other hosts only after these leases
/// have stayed free for a while. Fourth, it reclaims the batches of the shards that it has acquired.
package final class LeaseStateMachine {
    package typealias Instant = ContinuousClock.Instant
    package typealias Shard = (number: Int, token: FenceToken)

    /// A call to Redis. The caller must record the reply to this call before it asks for the next step. A failed call ends the
    /// round.
    package enum Step {
        case release(ReleaseLeases)
        case renew(RenewLeases)
        case acquire(AcquireLeases)
        /// Reclaims the batches that earlier owners left in flight on these shards.
        case reclaim([Shard])
    }

    private enum Stage { case releasing, renewing, acquiring, reclaiming, over }

    /// How placement distributes the leases over the hosts, as far as this host knows.
    package var shares: HostShares {
        get { demand.assigned.shares }
        set { demand.assigned.shares = newValue }
    }

    private let faults: FaultInjection<InjectedLeaseFault>
    private let host: String
    private let shards: Int
    private var nonces: LeaseNonce
    private var demand: LeaseDemand
    /// Whether Redis reported another owner for one of this host's leases. If so, the next round acquires all leases again.
    package private(set) var isFenced = false
    /// Whether the host acquires no more leases, because its coordinator exits or hands all leases over.
    private(set) var isEnding = false
    /// Whether the host is quiet. A quiet host keeps and acquires only leases that no other host can serve, and hands its other
    /// leases over immediately.
    package var isQuiet = false
    private var owned = OwnedLeases()
    private var handOver = HandOver()
    private(set) var pendingReleases: [LeaseID: FenceToken] = [:]
    private var stage = Stage.over
    private var isWoken = false
    private var hasChanged = false

    /// - Parameters:
    ///   - nonce: a new nonce; no lease was ever acquired with it.
    ///   - predecessor: the nonce of a coordinator of this host that has exited, or "".
    ///   - fault: a fault that a test injects.
    package init(
        host: String, shards: Int, shares: HostShares, nonce: String, predecessor: String,
        fault: InjectedLeaseFault? = nil
    ) {
        faults = FaultInjection(fault)
        (self.host, self.shards) = (host, shards)
        nonces = LeaseNonce(nonce, predecessor: predecessor)
        demand = LeaseDemand(AssignedLeases(shares, host: host, shards: shards))
    }

    package var nonce: String { nonces.current }
    /// Shards that are being withdrawn from this host's workers.
    package var leaving: Set<Int> { handOver.leaving }
    package var fenceTokens: [Int: FenceToken] { owned.fenceTokens }
    package var intake: FenceToken? { owned.intake }
    var unreclaimed: Set<Int> { owned.unreclaimed }
    package var isOwner: Bool { !owned.isEmpty }

    /// The shards that workers may serve, with their fencing tokens.
    package var served: [Int: FenceToken] {
        fenceTokens.filter {
            (!unreclaimed.contains($0.key) || faults.has(.servesUnreclaimed))
                && (!handOver.isLeaving($0.key) || faults.has(.servesLeaving))
        }
    }

    /// Returns whether leases were acquired, lost or withdrawn since the last call, so that workers must be notified.
    package func takeChange() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    /// Records that a script replied FENCED.
    package func fenced() {
        isFenced = true
        isWoken = true
    }

    /// Makes the next round due, because a lease may be free, or a host joined or left.
    package func makeRoundDue() { isWoken = true }

    package func isDue(at now: Instant) -> Bool {
        isWoken || !pendingReleases.isEmpty || !unreclaimed.isEmpty
            || demand.nextTry.map { $0 <= now } ?? false
    }

    // MARK: A round

    /// - Returns: whether the host has just dropped all its leases because Redis reported another owner. If so, this round
    ///   acquires the leases again.
    package func beginRound() -> Bool {
        let acquiresAgain = isFenced
        if acquiresAgain { replaceNonce() }
        isWoken = false
        stage = .releasing
        return acquiresAgain
    }

    /// The next step; nil when the round is over.
    package func nextStep(at now: Instant) -> Step? {
        if stage == .releasing {
            stage = .renewing
            if !pendingReleases.isEmpty, !faults.has(.forgetsToRelease) {
                return .release(ReleaseLeases(nonce: nonce, tokens: pendingReleases))
            }
        }
        if stage == .renewing {
            stage = .acquiring
            if isOwner { return .renew(renewal) }
        }
        if stage == .acquiring {
            stage = .reclaiming
            if !isEnding, fenceTokens.count < shards || intake == nil {
                return .acquire(acquisition(at: now))
            }
        }
        guard stage == .reclaiming, !unreclaimed.isEmpty else { return nil }
        stage = .over
        return .reclaim(owned.toReclaim)
    }

    /// Ends a failed round and makes another round due.
    package func failed() {
        stage = .over
        isWoken = true
    }

    package func released(_ call: ReleaseLeases) {
        for (lease, token) in call.tokens ?? [:] where pendingReleases[lease] == token {
            pendingReleases[lease] = nil
        }
    }

    private var renewal: RenewLeases {
        RenewLeases(nonce: nonce, host: host, lifetime: SendDeadline.lease, leases: owned.leases)
    }

    /// - Returns: the number of lost leases.
    package func renewed(_ call: RenewLeases, _ kept: [Bool]) -> Int {
        let lost = zip(call.leases, kept).filter { !$0.1 && !faults.has(.keepsLost) }.map(\.0)
        for lease in lost { forget(lease) }
        if !lost.isEmpty { hasChanged = true }
        return lost.count
    }

    private func acquisition(at now: Instant) -> AcquireLeases {
        let missing = owned.missing(of: shards).filter { mayAsk(for: $0) }
        let sorted = demand.classify(missing, isQuiet: isQuiet, takesAll: faults.has(.takesAll), at: now)
        return AcquireLeases(
            nonce: nonce, host: host, lifetime: SendDeadline.lease, predecessor: nonces.predecessor,
            leases: sorted.wanted, others: sorted.others, takenFromOwner: sorted.takenFromOwner)
    }

    /// Makes the next round acquire a lease even from a live owner.
    package func takeFromOwner(_ lease: LeaseID) {
        demand.takeFromOwner(lease)
        isWoken = true
    }

    /// Whether the host may request the lease. Until Redis has executed the release of a lease, Redis stores this host's nonce
    /// for the lease, so a request would get the lease again.
    private func mayAsk(for lease: LeaseID) -> Bool {
        pendingReleases[lease] == nil || faults.has(.asksForUnreleased)
    }

    /// - Parameter now: the time before `call` was sent.
    package func acquired(_ call: AcquireLeases, _ reply: AcquireLeases.Reply, at now: Instant) {
        demand.observe(zip(call.all, reply.states), at: now)
        for (lease, state) in zip(call.all, reply.states) {
            guard case .ours(let token) = state else { continue }
            owned.add(lease, token)
            if lease == .intake { hasChanged = true }
        }
        // A handover that began during the call also includes the newly acquired leases.
        if isEnding { handOverAll(at: now) }
    }

    package func reclaimed(_ shards: [Shard]) {
        // Redis reported another owner, so no shard is served until the host has acquired all leases again.
        guard !isFenced else { return }
        owned.reclaimed(shards)
        hasChanged = true
    }

    // MARK: Losing

    /// Treats all leases as lost.
    package func forgetAll() {
        for shard in fenceTokens.keys { handOver.ended(shard) }
        owned = OwnedLeases()
        hasChanged = true
    }

    /// Treats all leases as lost. The host acquires its next leases with a new nonce.
    private func replaceNonce() {
        isFenced = false
        nonces.replace()
        pendingReleases = [:]
        forgetAll()
    }

    private func forget(_ lease: LeaseID) {
        owned.remove(lease)
        if case .shard(let shard) = lease { handOver.ended(shard) }
    }

    // MARK: Handing over

    /// The number of this host's shards that are assigned to other hosts.
    package var misplacedShards: Int { fenceTokens.keys.count { !demand.assigned.contains(.shard($0)) } }

    /// Starts to withdraw shards that are assigned to other hosts. If the intake is assigned to another host, it is released
    /// immediately.
    package func handOverOthers(at now: Instant) {
        guard !isEnding, !faults.has(.handsNothingOver) else { return }
        let misplacedShards = fenceTokens.keys.sorted().filter {
            !unreclaimed.contains($0) && !demand.assigned.contains(.shard($0))
        }
        let back = handOver.cancel { demand.assigned.contains(.shard($0)) }
        let leaving = handOver.begin(misplacedShards, isAll: isQuiet, at: now)
        let isIntakeLeaving = intake != nil && !demand.assigned.contains(.intake)
        if isIntakeLeaving { releaseIntake() }
        if !back.isEmpty || !leaving.isEmpty || isIntakeLeaving { hasChanged = true }
        if !back.isEmpty, faults.has(.changesSilently) { hasChanged = false }
        if faults.has(.releasesAtOnce) { shardsEmptied(handOver.leaving) }
    }

    /// Withdraws all shards and acquires no more leases, because the coordinator exits or hands all leases over.
    package func handOverAll(at now: Instant) { withdraw(fenceTokens.keys.sorted(), isAll: true, at: now) }

    /// Hands all leases over to the coordinator's successor, a few shards at a time. The intake is released immediately.
    package func handOverSome(at now: Instant) {
        withdraw(fenceTokens.keys.sorted().filter { !unreclaimed.contains($0) }, isAll: false, at: now)
    }

    private func withdraw(_ shards: [Int], isAll: Bool, at now: Instant) {
        isEnding = true
        _ = handOver.begin(shards, isAll: isAll, at: now)
        shardsEmptied(unreclaimed)
        releaseIntake()
        hasChanged = true
    }

    /// Allows the host to acquire free leases again.
    package func resumeAcquiring() {
        isEnding = false
        isWoken = true
    }

    private func releaseIntake() {
        if let token = intake { pendingReleases[.intake] = token }
        owned.remove(.intake)
    }

    /// Releases those of the given shards that are being withdrawn. The caller guarantees that this host's workers hold no
    /// batches of the given shards.
    /// - Returns: whether any shard was released.
    @discardableResult
    package func shardsEmptied(_ shards: some Sequence<Int>) -> Bool {
        var hasSome = false
        if faults.has(.releasesServed) { _ = handOver.begin(Array(shards), isAll: true, at: .now) }
        for shard in shards where handOver.isLeaving(shard) {
            guard let token = fenceTokens[shard] else { continue }
            forget(.shard(shard))
            pendingReleases[.shard(shard)] = token
            hasSome = true
        }
        return hasSome
    }

    /// Cancels the handover of shards that the workers have not released in time.
    /// - Returns: the number of shards whose handover was cancelled.
    package func keepOverdue(at now: Instant) -> Int {
        guard !isEnding else { return 0 }
        let late = handOver.overdue(at: now)
        if !late.isEmpty { hasChanged = true }
        return late.count
    }
}
