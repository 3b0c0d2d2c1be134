import EventLoop
import FarmPolicy
import FarmStore
import Logging

/// The leases of one app: its intake and its shards, as far as they are this host's.
///
/// What should be this host's is taken as soon as it is free, what should be another's only after it has stayed free.
/// One call at a time is under way: ``keep()`` is called by one task.
@Loop final class AppLeases {
    private(set) var tokens: [Int: FenceToken] = [:]
    private(set) var intake: FenceToken?
    /// Who should own what, as far as we know.
    var shares: HostShares
    /// Something was won or lost.
    var onChange: @Loop () -> Void = {}
    /// Takes back what the owners before have left in flight on these shards; false when Redis did not do it.
    var onWon: @Loop (_ shards: [(number: Int, token: FenceToken)]) async -> Bool = { _ in true }
    /// Something was given back: other hosts may want to know.
    var onRelease: @Loop () -> Void = {}

    private let store: AppStore
    private let host: String
    private let shards: Int
    private let log: Logger
    private let instance: String
    private var nonce: String
    private var predecessor: String
    private var renounced = 0
    /// Redis said that something of ours has another owner: everything is acquired anew.
    private var isDoubtful = false
    /// Nothing more is taken: the host ends.
    private var isEnding = false
    private var isInTrouble = false

    /// Won, and not yet free of what the owner before had in flight: no worker gets it.
    private var unswept: Set<Int> = []
    private var handOver = HandOver()
    private var givenBack: Set<LeaseField> = []
    private var vacancies = Vacancies<LeaseField>()
    private var isWoken = false
    /// When a field that should be ours may become free.
    private var nextLook: ContinuousClock.Instant?

    /// - Parameter nonce: of this process: no lease was ever taken with it.
    init(
        _ store: AppStore, host: String, shards: Int, shares: HostShares, nonce: String, predecessor: String,
        log: Logger
    ) {
        self.store = store
        self.host = host
        self.shards = shards
        self.shares = shares
        instance = nonce
        self.nonce = nonce
        self.predecessor = predecessor
        self.log = log
    }

    var isOwner: Bool { intake != nil || !tokens.isEmpty }

    /// The shards that workers may serve, with the proofs.
    var served: [Int: FenceToken] {
        tokens.filter { !unswept.contains($0.key) && !handOver.isLeaving($0.key) }
    }

    /// A script said FENCED.
    func doubt() {
        isDoubtful = true
        isWoken = true
    }

    /// A look is worth a call: something may have become free, or somebody came or went.
    func wake() { isWoken = true }

    func isDue(at now: ContinuousClock.Instant) -> Bool {
        isWoken || !givenBack.isEmpty || !unswept.isEmpty || nextLook.map { $0 <= now } ?? false
    }

    // MARK: Taking and keeping

    /// Gives back what is to be given back, keeps what is ours, takes what should be and is free.
    ///
    /// - Returns: whether Redis has confirmed; the leases then hold for ``lease`` from the moment before the call.
    func keep() async -> Bool {
        if isDoubtful { renounce() }
        isWoken = false
        do throws(StoreError) {
            if !givenBack.isEmpty { try await giveBack() }
            if isOwner { try await renew() }
            if !isEnding, tokens.count < shards || intake == nil { try await acquire() }
            if !unswept.isEmpty { await sweep() }
            if isInTrouble { log.notice("leases are renewed again", metadata: ["app": "\(store.keys.app)"]) }
            isInTrouble = false
            return true
        } catch {
            if !isInTrouble {
                log.warning(
                    "leases not renewed", metadata: ["app": "\(store.keys.app)", "error": "\(error)"])
            }
            isInTrouble = true
            isWoken = true
            return false
        }
    }

    /// Time is up: without Redis's confirmation nothing is ours.
    func expire() {
        guard isOwner else { return }
        log.error("leases have run out", metadata: ["app": "\(store.keys.app)"])
        forget()
    }

    private func forget() {
        for shard in tokens.keys { handOver.ended(shard) }
        tokens = [:]
        intake = nil
        unswept = []
        onChange()
    }

    /// A new nonce makes tokens that no script has ever seen; the old ones are known to be gone, for they were ours.
    private func renounce() {
        isDoubtful = false
        renounced += 1
        predecessor = instance
        nonce = "\(instance).\(renounced)"
        givenBack = []
        log.notice("acquiring leases anew", metadata: ["app": "\(store.keys.app)"])
        forget()
    }

    private func renew() async throws(StoreError) {
        let fields: [LeaseField] = (intake == nil ? [] : [.intake]) + tokens.keys.sorted().map { .shard($0) }
        let kept = try await store.perform(
            RenewLeases(nonce: nonce, host: host, lease: LeaseClock.lease, fields: fields))
        let lost = zip(fields, kept).filter { !$0.1 }.map(\.0)
        guard !lost.isEmpty else { return }
        for field in lost { forget(field) }
        log.notice("leases lost", metadata: ["app": "\(store.keys.app)", "count": "\(lost.count)"])
        onChange()
    }

    private func forget(_ field: LeaseField) {
        switch field {
        case .intake: intake = nil
        case .shard(let shard):
            tokens[shard] = nil
            unswept.remove(shard)
            handOver.ended(shard)
        }
    }

    private func acquire() async throws(StoreError) {
        let now = ContinuousClock.now
        var missing = (0..<shards).filter { tokens[$0] == nil }.map { LeaseField.shard($0) }
        if intake == nil { missing.append(.intake) }
        // What is to be given back still bears our nonce in Redis: asked for, it would be ours again.
        missing.removeAll { givenBack.contains($0) }
        let wanted = missing.filter { isOurs($0) || vacancies.isOverdue($0, at: now) }
        let others = missing.filter { !wanted.contains($0) }
        let reply = try await store.perform(
            AcquireLeases(
                nonce: nonce, host: host, lease: LeaseClock.lease, predecessor: predecessor, fields: wanted,
                others: others))
        var hasIntake = false
        nextLook = nil
        for (field, answer) in zip(wanted + others, reply.answers) {
            vacancies.see(field, isFree: answer == .free, at: now)
            switch answer {
            case .free: break
            case .taken(let left):
                if isOurs(field) { nextLook = min(nextLook ?? now + left, now + left) }
            case .ours(let token):
                guard case .shard(let shard) = field else {
                    (intake, hasIntake) = (token, true)
                    continue
                }
                tokens[shard] = token
                unswept.insert(shard)
            }
        }
        // The end began while the call was under way.
        if isEnding { return handOverAll() }
        if hasIntake { onChange() }
    }

    private func isOurs(_ field: LeaseField) -> Bool { shares.owner(of: field.place) == host }

    private func sweep() async {
        let won = unswept.sorted().compactMap { shard in tokens[shard].map { (number: shard, token: $0) } }
        guard await onWon(won) else { return }
        for (shard, token) in won where tokens[shard] == token { unswept.remove(shard) }
        onChange()
    }

    // MARK: Handing over

    /// Begins to withdraw shards that others should own; the intake goes at once.
    func handOverOthers() {
        guard !isEnding else { return }
        let strangers = tokens.keys.sorted().filter { !unswept.contains($0) && !isOurs(.shard($0)) }
        let back = handOver.cancel { isOurs(.shard($0)) }
        let leaving = handOver.begin(strangers, at: .now)
        let isIntakeLeaving = intake != nil && !isOurs(.intake)
        if isIntakeLeaving {
            intake = nil
            givenBack.insert(.intake)
        }
        if !back.isEmpty || !leaving.isEmpty || isIntakeLeaving { onChange() }
    }

    /// The host ends: everything is withdrawn, and nothing more is taken.
    func handOverAll() {
        isEnding = true
        _ = handOver.begin(tokens.keys.sorted(), isAll: true, at: .now)
        emptied(unswept)
        if intake != nil {
            intake = nil
            givenBack.insert(.intake)
        }
        onChange()
    }

    /// Shards that are being withdrawn from their workers.
    var leaving: Set<Int> { handOver.leaving }

    /// Nothing of these shards is in our workers' hands: those that are leaving are given back.
    /// - Returns: whether there are such.
    @discardableResult
    func emptied(_ shards: some Sequence<Int>) -> Bool {
        var hasSome = false
        for shard in shards where handOver.isLeaving(shard) && tokens[shard] != nil {
            forget(.shard(shard))
            givenBack.insert(.shard(shard))
            hasSome = true
        }
        return hasSome
    }

    /// Keeps shards that their workers have not let go of in time.
    func keepOverdue() {
        guard !isEnding else { return }
        let late = handOver.overdue(at: .now)
        guard !late.isEmpty else { return }
        log.warning(
            "shards are not handed over: their pushes are still in the air",
            metadata: ["app": "\(store.keys.app)", "shards": "\(late.count)"])
        onChange()
    }

    /// Gives everything back, so that others need not wait.
    func leave() async {
        // Before the call: what is given back is not renewed meanwhile.
        forget()
        // Whoever comes next waits for the lease's end if this does not get through.
        _ = try? await store.perform(ReleaseLeases(nonce: nonce, fields: nil))
        onRelease()
    }

    private func giveBack() async throws(StoreError) {
        let fields = givenBack
        _ = try await store.perform(ReleaseLeases(nonce: nonce, fields: Array(fields)))
        givenBack.subtract(fields)
        onRelease()
    }
}

extension LeaseField {
    fileprivate var place: HostShares.Place {
        switch self {
        case .intake: .intake
        case .shard(let number): .shard(number)
        }
    }
}
