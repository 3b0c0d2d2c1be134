import APNs
import ControlChannel
import EventLoop
import FarmPolicy
import FarmStore
import Gateway
import Logging
import PushModel

#if FAILPOINTS
    import Failpoints
#endif

/// Sends the pushes of one app: checks batches out, feeds them to the gateway, reports what became of them.
///
/// Work is done at the end of a loop's turn, once for all that the turn brought.
@Loop final class AppSender: ConnectionPool.Owner, TurnListener, Solitude.Member {
    let context: WorkerContext
    let name: String
    let store: AppStore
    private(set) var topic: String
    /// Its share of the worker's time when other apps have something to send as well.
    private var weight = 1
    /// Where the gateway belongs, in the words of a ``SuppressionScope``.
    private(set) var environment = ""
    private(set) var hasOneTopic = false
    /// What was sent with older credentials may have gone to another topic or environment.
    private(set) var scopeGeneration: UInt32 = 0
    var scopes: [String: Scope] = [:]
    let deadTokens: DeadTokens
    /// All shards that the coordinator gave us; the window has those of them whose dead tokens are known.
    private var shards: [Int: FenceToken] = [:]
    /// What the whole farm may use, and into how many shards it is divided.
    private var budget = (farm: FarmBudget(), shards: 1)
    /// The app goes on as soon as its dead tokens are known.
    private var resumesWhenWhole = false
    let window: Window
    private(set) lazy var pool = ConnectionPool(owner: self)
    private(set) lazy var governor = makeGovernor()
    var breaker = ServerBreaker()
    /// Devices that got more than the gateway likes.
    var coolDown = CoolDown()
    var streak = ConfigurationStreak()
    var random = SystemRandomNumberGenerator()
    private var isDue = false
    private lazy var timer = Timer { [unowned self] in schedule() }
    /// When high was last sent while bulk was in hand.
    private var mixedAt: ContinuousClock.Instant?
    private static let mixedFor = Duration.seconds(60)
    private lazy var nextTurn = Timer { [unowned self] in schedule() }
    lazy var reportTimer = Timer { [unowned self] in reportDue() }

    /// Why nothing is sent, if nothing is.
    var hold: Hold? {
        didSet { window.change(to: hold?.mode ?? .sending) }
    }
    /// Credentials of this generation were told to be accepted.
    var provenGeneration: UInt32?
    private(set) var generation: UInt32 = 0
    var counts = Notice.Beat()

    enum Hold {
        /// The coordinator was told of a doubt, and has not answered.
        case doubt
        /// The app is paused: batches go back.
        case paused
        /// Redis says that the app is paused, which the coordinator may not know: batches go back until Redis says otherwise.
        case gateClosed
        /// The app is not served any more: batches go back.
        case left
        /// The worker is finishing: nothing new starts.
        case finishing

        var isPause: Bool { self == .paused || self == .gateClosed }
        fileprivate var mode: Window.Mode { self == .doubt ? .holding : .returning }
    }

    init(_ context: WorkerContext, app: String) {
        self.context = context
        name = app
        store = AppStore(app: app, connection: context.redis)
        window = Window(worker: context.name, now: .now)
        topic = ""
        deadTokens = DeadTokens(store, life: 30 * 86_400, log: context.log)
        context.solitude.join(self)
        deadTokens.onLoaded = { [unowned self] in deadTokensAreKnown() }
    }

    // MARK: Orders

    /// - Parameters:
    ///   - weight: the app's share of the worker's time, relative to other apps.
    ///   - bulkFloor: percent of what is sent that is bulk while high waits, too.
    func share(weight: Int, bulkFloor: Int) {
        self.weight = max(1, weight)
        if bulkFloor != window.share.bulkFloor { window.share = LaneShare(bulkFloor: bulkFloor) }
    }

    func follow(
        _ plan: GatewayPlan?, topic: String, environment: String = "", limits: RateLimits = RateLimits(),
        budget: FarmBudget = FarmBudget(), shards: Int = 1
    ) {
        self.budget = (budget, shards)
        takeShare()
        if (topic, environment) != (self.topic, self.environment) {
            scopes = [:]
            scopeGeneration = plan?.generation ?? generation
        }
        (self.topic, self.environment) = (topic, environment)
        if let plan {
            generation = plan.generation
            hasOneTopic = plan.wire != .http2
        }
        pool.follow(plan)
        if let plan { governor.follow(plan, limits: limits) }
        if case .doubt = hold { hold = nil }
        schedule()
    }

    /// The provider token was renewed by age: the connections stay, and use it from now on.
    func renew(_ token: [UInt8], generation: UInt32) {
        self.generation = generation
        pool.renew(token, generation: generation)
        schedule()
    }

    func pause() { hold(as: .paused) }

    /// The coordinator does not serve the app any more.
    func leave() {
        hold(as: .left)
        provenGeneration = nil
    }

    /// The coordinator serves the app again.
    func comeBack() {
        guard hold == .left else { return }
        hold = nil
        resume()
    }

    /// Redis was asked for batches, and said so or otherwise about the app.
    func learnGate(isPaused: Bool) {
        if isPaused, hold == nil || hold == .doubt { hold(as: .gateClosed) }
        if !isPaused, hold == .gateClosed { resume() }
    }

    private func hold(as next: Hold) {
        guard !isFinishing, hold != .left else { return }
        // What was found out of late may be why it is paused, and not be let through: that is forgotten.
        if next.isPause, hold?.isPause != true { deadTokens.reload() }
        hold = next
        resumesWhenWhole = false
        pool.retireAll()
        schedule()
    }

    func resume() {
        guard !isFinishing, hold != .left else { return }
        guard deadTokens.isWhole else {
            resumesWhenWhole = true
            return
        }
        hold = nil
        breaker = ServerBreaker()
        streak = ConfigurationStreak()
        window.shards.ringAll()
        schedule()
    }

    func finish() {
        hold = .finishing
        pool.retireAll()
        schedule()
    }

    func stop() {
        pool.closeAll()
        reportTimer.stop()
    }

    /// Nothing is held, sent or being reported any more.
    var isIdle: Bool { window.isIdle && pool.openStreams == 0 }

    /// These shards are served from now on; the others are withdrawn.
    func assign(_ tokens: [Int: FenceToken]) {
        let begun = shards.keys.filter { window.shards.token(of: $0) != nil }
        let withdrawn = shards.keys.filter { tokens[$0] == nil && !begun.contains($0) }.sorted()
        // One that went to somebody else and is back is read anew.
        deadTokens.serve(tokens.keys)
        shards = tokens
        takeShare()
        serveKnown()
        if !withdrawn.isEmpty {
            context.tell(.released(app: name, shards: withdrawn.map { UInt16($0) }))
        }
    }

    /// A shard brings its part of the budget, and takes it away.
    private func takeShare() {
        let known = Set(shards.keys).filter { $0 < budget.shards }
        governor.follow(budget.farm.share(of: known, among: budget.shards))
    }

    /// Nothing of a shard is checked out before its dead tokens are known.
    private func serveKnown() {
        window.now = .now
        window.assign(
            shards.filter { deadTokens.isLoaded($0.key) || window.shards.tokens[$0.key] != nil })
        schedule()
    }

    private func deadTokensAreKnown() {
        if shards.contains(where: { window.shards.tokens[$0.key] != $0.value && deadTokens.isLoaded($0.key) })
        {
            serveKnown()
        }
        if resumesWhenWhole, deadTokens.isWhole {
            resumesWhenWhole = false
            resume()
        }
    }

    /// There is a connection to Redis again.
    func reconnected(isOther: Bool) {
        window.now = .now
        window.shards.ringAll()
        window.reconnected(isOther: isOther)
        deadTokens.reconnected(isOther: isOther)
        schedule()
    }

    /// Nothing that bears our name in Redis stays unknown to us for long.
    func lookAround() {
        window.lookAround()
        deadTokens.look()
        schedule()
    }

    /// Ownership is in doubt: what was done in the last seconds is told once more.
    func tellAgain() {
        window.now = .now
        window.repeatAll()
    }

    // MARK: Batches

    private var limit: Int {
        min(pool.window, governor.worthHolding)
    }
    var wantsBatches: Bool { hold == nil && context.mayStart && breakerAllows }
    /// A probe needs a push as well.
    private var breakerAllows: Bool {
        if breaker.isClosed { return true }
        if case .probe = breaker.permit(at: .now) { return true }
        return false
    }

    /// Expires what is in hand and can no longer be sent in time: the gateway may be out of reach for long.
    func expireOverdue() {
        window.now = .now
        if let mixedAt, window.now - mixedAt > Self.mixedFor { (self.mixedAt, pool.isMixed) = (nil, false) }
        counts.failed += UInt64(window.expireOverdue(at: context.redis.clock.seconds))
        // While Redis is away nothing grows old: it may come back without what it was told last.
        if context.redis.isReady { window.ring.drop(at: window.now) }
        schedule()
    }

    // MARK: Careful batches

    var hasCareful: Bool { window.careful != nil && canSend }
    var hasCarefulInAir: Bool { window.hasCarefulInAir }
    var isStill: Bool { window.isStill || hasClearAir && !canSend }
    var hasClearAir: Bool { pool.openStreams == 0 }

    private var canSend: Bool { wantsBatches && (pool.openStreams > 0 || pool.roomiest != nil) }
    private var isAlone: Bool { window.careful != nil && context.solitude.admits(self) }

    // MARK: The turn

    func schedule() {
        guard !isDue else { return }
        isDue = true
        Loop.atEndOfTurn(self)
    }

    func loopTurnEnded() {
        isDue = false
        context.turns.note(self, isAtWork: !window.held.isEmpty)
        window.now = .now
        window.limit = limit
        window.yields = context.solitude.isWanted
        feed()
        let wantsMore = wantsBatches && !window.yields
        if context.redis.isReady, let request = window.checkOut(wantsMore: wantsMore) {
            store.send(request) { [weak self] in self?.checkedOut(request, $0) }
        }
        carryOut()
    }

    /// Sends what may be sent on what has room for it.
    private func feed() {
        let now = ContinuousClock.now
        guard hold == nil, context.mayStart, context.solitude.lets(self) else {
            return governor.rests(at: now)
        }
        var isProbe = false
        switch breaker.permit(at: now) {
        case .all: break
        case .probe: isProbe = true
        case .nothing(let until):
            if let until { timer.start(after: until - now) }
            return governor.rests(at: now)
        }
        let (allowance, share) = (governor.allowance(at: now), context.turns.share(of: self, weight: weight))
        var left = min(allowance, share)
        var isBulkFull = false
        while left > 0, let (batch, most) = window.nextBatch(isAlone: isAlone, isBulkFull: isBulkFull) {
            guard let connection = pool.roomiest(for: batch.lane) else {
                guard batch.lane == .bulk, !isBulkFull else { break }
                isBulkFull = true
                continue
            }
            let room = min(left, most, isProbe ? 1 : connection.room)
            let sent = send(from: batch, over: connection, atMost: room, at: now)
            left -= sent
            window.sent(sent, of: batch)
            if batch.lane == .high, sent > 0 { sentHigh() }
            if isProbe, sent > 0 {
                breaker.probeSent()
                break
            }
            // The connection did not take what it had room for: never ask it again and again.
            guard sent > 0 || !batch.hasNext else { break }
        }
        let sent = min(allowance, share) - left
        // The rest goes after the others had theirs, and after what has come meanwhile.
        let isInterrupted = left == 0 && share < allowance
        if isInterrupted { nextTurn.start(after: .zero) }
        let waits = !isInterrupted && window.nextBatch(isAlone: isAlone) != nil
        if waits && left > 0 || window.careful != nil && pool.roomiest == nil || sent > 0 && pool.isShort {
            pool.needConnection()
        }
        governor.fed(sent, waits: waits, isLimited: waits && left == 0, at: now)
    }

    /// High was sent; a campaign may be on its way, too.
    private func sentHigh() {
        guard window.held.values.contains(where: { $0.lane == .bulk }) else { return }
        mixedAt = window.now
        pool.isMixed = true
    }

    private func send(
        from batch: HeldBatch, over connection: any GatewayConnection, atMost most: Int,
        at now: ContinuousClock.Instant
    ) -> Int {
        var sent = 0
        let seconds = context.redis.clock.seconds
        let shelf = deadTokens.shelf(of: batch.shard)
        batch.batch.bytes.withUnsafeBytes { bytes in
            while sent < most, let position = batch.next() {
                let push = batch.batch.pushes[position]
                let segment = Int(push.segment)
                if let deadline = batch.batch.segments[segment].options.deadline, deadline <= seconds {
                    settle(batch, position, .expired)
                    continue
                }
                let token = UnsafeRawBufferPointer(rebasing: bytes[push.token])
                if let shelf, let dead = suppression(batch, segment, token: token, shelf, at: seconds) {
                    settle(
                        batch, position, .suppressed(cause: dead.reason.name), timestamp: dead.since * 1000)
                    continue
                }
                if !coolDown.isEmpty, putOff(batch, segment, position, at: now) { continue }
                #if FAILPOINTS
                    Failpoint.hit("send.before", token: token)
                #endif
                let taken = connection.send(
                    batch.head(of: segment, appTopic: topic), token: token,
                    id: batch.pushID(of: position, token: token),
                    payload: UnsafeRawBufferPointer(rebasing: bytes[push.payload]),
                    ticket: PushTicket(batch: batch.number, position: UInt32(position)), at: now)
                guard taken else {
                    batch.giveBack(position)
                    break
                }
                #if FAILPOINTS
                    Failpoint.hit("send.after", token: token)
                #endif
                sent += 1
            }
        }
        counts.sent += UInt64(sent)
        return sent
    }

    private var isFinishing: Bool {
        if case .finishing = hold { true } else { false }
    }
}
