import APNs
import ControlChannel
import Delivery
import EventLoop
import FarmPolicy
import Gateway
import Logging
import PushModel
import RedisClient
import StoreProtocol

/// Sends the pushes of one app: checks out batches, sends their pushes to the gateway, reports their
/// outcomes.
///
/// The sender works at the end of each turn of the loop, once for all events of the turn.
@Loop final class AppSender: ConnectionPool.Owner, TurnListener, SuspectPushTurn.Member {
    let context: WorkerContext
    let name: String
    let store: AppRedis
    private(set) var topic = ""
    /// The app's share of the worker's time while other apps also have something to send.
    private(set) var weight = 1
    /// The longest Retry-After that is accepted from the gateway.
    private(set) var longestRetryAfter = Duration.seconds(600)
    let suppressionLists: SuppressionLists
    let suppression: SuppressionFilter
    let window: DeliveryWindow
    private(set) lazy var shards = ServedShards(window, suppressionLists) { [unowned self] in
        schedule()
    } onReleased: { [unowned self] shards in
        context.notify(.released(app: name, shards: shards.map { UInt16($0) }))
    }
    private(set) lazy var pool = ConnectionPool(owner: self)
    private(set) lazy var governor = AppGovernor(context, app: name, pool: pool) { [unowned self] in
        schedule()
    } observe: { [unowned self] in
        AppGovernor.Observation(
            delivered: counts.delivered, holdsBatches: pool.openStreams > 0 || !window.isEmpty,
            isStopped: !gatewayHealth.allowsSending)
    }
    var gatewayHealth = GatewayHealth()
    var coolDowns = CoolDown()
    var counts = SendCounts()
    private var isDue = false
    /// Whether ``resume()`` was called before the app's suppression lists were read. Sending then resumes when the lists are
    /// read.
    private var resumesWhenKnown = false
    lazy var timer = Timer { [unowned self] in schedule() }
    lazy var nextTurn = Timer { [unowned self] in schedule() }
    lazy var reportTimer = Timer { [unowned self] in reportsAreDue() }
    /// When a push of lane high was last sent while a batch of lane bulk was held.
    private var mixedAt: Instant?
    private static let mixedFor = Duration.seconds(60)

    /// Why sending is suspended; nil while the app may send.
    var suspension: Suspension? {
        didSet { window.change(to: suspension?.mode ?? .sending) }
    }
    /// The newest generation of the app's credentials that a gateway has accepted, according to the coordinator.
    var provenGeneration: UInt32?
    private(set) var generation: UInt32 = 0

    init(_ context: WorkerContext, app: String) {
        self.context = context
        name = app
        store = AppRedis(app: app, connection: context.redis)
        window = DeliveryWindow(worker: context.name, now: .now)
        suppressionLists = SuppressionLists(store, life: 30 * 86_400, log: context.log)
        suppression = SuppressionFilter(suppressionLists)
        context.suspectTurn.join(self)
        suppressionLists.onLoaded = { [unowned self] in
            shards.suppressionsAreLoaded()
            resumeIfKnown()
        }
    }

    // MARK: Orders

    /// - Parameters:
    ///   - weight: the app's share of the worker's time, relative to other apps.
    ///   - bulkFloor: the minimum percentage of bulk pushes while high pushes wait.
    func setShare(weight: Int, bulkFloor: Int) {
        self.weight = max(1, weight)
        window.setBulkFloor(bulkFloor)
    }

    /// Sets the shards that this worker serves. Stops serving all other shards.
    func assign(_ tokens: [Int: FenceToken]) {
        shards.assign(tokens)
        governor.apply(shards.share)
    }

    /// Sets the rate limit of the whole farm in pushes per second; nil means unlimited.
    func apply(budgetRate: Double?) {
        shards.apply(budgetRate: budgetRate)
        governor.apply(shards.share)
        schedule()
    }

    func apply(
        _ gatewaySettings: GatewaySettings?, topic: String, environment: String = "",
        limits: RateLimits = RateLimits(),
        budget: FarmBudget = FarmBudget(), shards: Int = 1
    ) {
        self.shards.apply(budget, shards: shards)
        governor.apply(self.shards.share)
        suppression.apply(
            topic: topic, environment: environment, generation: gatewaySettings?.generation ?? generation)
        self.topic = topic
        if let gatewaySettings {
            generation = gatewaySettings.generation
            longestRetryAfter = gatewaySettings.longestRetryAfter
            suppression.use(oneTopic: gatewaySettings.wire.hasOneTopic)
        }
        pool.apply(gatewaySettings)
        if let gatewaySettings { governor.apply(gatewaySettings, limits: limits) }
        if suspension == .undecided { suspension = nil }
        schedule()
    }

    /// Uses a provider token that was renewed because of its age. The connections stay open.
    func renew(_ token: [UInt8], generation: UInt32) {
        self.generation = generation
        pool.renew(token, generation: generation)
        schedule()
    }

    func pause() { suspend(as: .paused) }

    /// Stops sending, because the coordinator no longer serves the app.
    func leave() {
        suspend(as: .removed)
        provenGeneration = nil
    }

    /// Resumes sending, because the coordinator serves the app again.
    func appConfiguredAgain() {
        guard suspension == .removed else { return }
        suspension = nil
        resume()
    }

    /// Notes from a reply of Redis whether the app is paused.
    func followPauseInRedis(isPaused: Bool) {
        if isPaused, suspension == nil || suspension == .undecided { suspend(as: .pausedInRedis) }
        if !isPaused, suspension == .pausedInRedis { resume() }
    }

    private func suspend(as next: Suspension) {
        guard suspension != .finishing, suspension != .removed else { return }
        // During a pause, Redis may reject recent suppressions of this worker as wrong. The reload removes them from the lists of
        // this worker.
        if next.isPause, suspension?.isPause != true { suppressionLists.reload() }
        suspension = next
        resumesWhenKnown = false
        pool.retireAll()
        schedule()
    }

    func resume() {
        guard suspension != .finishing, suspension != .removed else { return }
        guard suppressionLists.isWhole else {
            resumesWhenKnown = true
            return
        }
        suspension = nil
        gatewayHealth.reset()
        window.shards.allMayHaveBatches()
        schedule()
    }

    private func resumeIfKnown() {
        guard resumesWhenKnown, suppressionLists.isWhole else { return }
        resumesWhenKnown = false
        resume()
    }

    func finish() {
        suspension = .finishing
        pool.retireAll()
        schedule()
    }

    func stop() {
        pool.closeAll()
        reportTimer.stop()
    }

    /// Whether the sender holds no batch, has no push in flight and has no report in progress.
    var isIdle: Bool { window.isIdle && pool.openStreams == 0 }

    /// Notes that a push of lane high was sent while a batch of lane bulk is held.
    func sentBothLanes() {
        mixedAt = window.now
        pool.isMixed = true
    }

    // MARK: Batches

    private var wantsBatches: Bool {
        suspension == nil && context.mayStart && gatewayHealth.maySend(at: .now)
    }

    /// Expires held pushes whose deadline has passed. Without this function, pushes would not expire while the gateway is
    /// unreachable.
    func expireOverdue() {
        window.now = .now
        if let mixedAt, window.now - mixedAt > Self.mixedFor { (self.mixedAt, pool.isMixed) = (nil, false) }
        counts.addFailed(window.expireOverdue(at: context.redis.clock.seconds))
        // In an outage, Redis may lose the last reports, and then this worker reports the outcomes again. So during the outage
        // this worker drops no outcomes.
        if context.redis.isReady { window.dropOldOutcomes() }
        schedule()
    }

    // MARK: Suspect batches

    var hasSuspect: Bool { window.suspect != nil && canSend }
    var hasSuspectInFlight: Bool { window.hasSuspectInFlight }
    var isClearForSuspect: Bool { window.isClearForSuspect || hasNothingInFlight && !canSend }
    var hasNothingInFlight: Bool { pool.openStreams == 0 }

    private var canSend: Bool { wantsBatches && (pool.openStreams > 0 || pool.roomiest != nil) }
    var hasExclusiveTurn: Bool {
        window.suspect != nil && context.suspectTurn.maySendSuspect(self)
    }

    // MARK: The turn

    func schedule() {
        guard !isDue else { return }
        isDue = true
        Loop.atEndOfTurn(self)
    }

    func loopTurnEnded() {
        isDue = false
        context.turns.note(self, holdsBatches: !window.isEmpty)
        window.now = .now
        window.setCreditLimit(min(pool.window, governor.usefulWindow))
        window.yieldsToSuspect = context.suspectTurn.isWanted
        sendPushes()
        let wantsMore = wantsBatches && !window.yieldsToSuspect
        if context.redis.isReady, let request = window.checkOut(wantsMore: wantsMore) {
            store.send(request) { [weak self] in self?.checkedOut(request, $0) }
        }
        carryOut()
    }
}
