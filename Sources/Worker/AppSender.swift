import APNs
import ControlChannel
import DequeModule
import EventLoop
import FarmPolicy
import FarmStore
import Gateway
import Logging
import PushModel

/// Sends the pushes of one app: checks batches out, feeds them to the gateway, reports what became of them.
///
/// Work is done at the end of a loop's turn, once for all that the turn brought.
@Loop final class AppSender: ConnectionPool.Owner, TurnListener {
    let context: WorkerContext
    let name: String
    let store: AppStore
    private(set) var topic: String
    let shards = ReadyShards()
    var held: [UInt32: HeldBatch] = [:]
    private var waiting: [Deque<HeldBatch>] = [[], []]
    private var nextNumber: UInt32 = 0
    private(set) lazy var pool = ConnectionPool(owner: self)
    private var breaker = ServerBreaker()
    private var streak = ConfigurationStreak()
    private var random = SystemRandomNumberGenerator()
    private var isDue = false
    private lazy var timer = Timer { [unowned self] in schedule() }
    lazy var reporter = Reporter(self)
    private lazy var checkoutDesk = CheckoutDesk(self)

    /// Why nothing is sent, if nothing is.
    private(set) var hold: Hold?
    /// Credentials of this generation were told to be accepted.
    private var provenGeneration: UInt32?
    private(set) var generation: UInt32 = 0
    private(set) var counts = Notice.Beat()

    enum Hold {
        /// The coordinator was told of a doubt, and has not answered.
        case doubt
        /// The app is paused: batches go back.
        case paused
        /// The worker is finishing: nothing new starts.
        case finishing
    }

    /// What a worker may have granted and unreported: the streams of its connections, within bounds.
    static let window = 512...2000

    init(_ context: WorkerContext, app: String) {
        self.context = context
        name = app
        store = AppStore(app: app, connection: context.redis)
        topic = ""
    }

    // MARK: Orders

    func follow(_ plan: GatewayPlan?, topic: String) {
        self.topic = topic
        if let plan { generation = plan.generation }
        pool.follow(plan)
        if case .doubt = hold { hold = nil }
        schedule()
    }

    /// The provider token was renewed by age: the connections stay, and use it from now on.
    func renew(_ token: [UInt8], generation: UInt32) {
        self.generation = generation
        pool.renew(token, generation: generation)
        schedule()
    }

    func pause() {
        guard !isFinishing else { return }
        hold = .paused
        pool.retireAll()
        returnIdleBatches()
    }

    func resume() {
        guard !isFinishing else { return }
        hold = nil
        breaker = ServerBreaker()
        streak = ConfigurationStreak()
        for batch in held.values { requeue(batch) }
        shards.ringAll()
        schedule()
    }

    func finish() {
        hold = .finishing
        returnIdleBatches()
    }

    func stop() { pool.closeAll() }

    /// Nothing is held, sent or being reported any more.
    var isIdle: Bool { held.isEmpty && pool.openStreams == 0 && !checkoutDesk.isBusy }

    // MARK: Batches

    /// Granted positions without a known outcome: in all batches at most ``creditLimit``.
    var exposure: Int { held.values.reduce(0) { $0 + $1.exposure + $1.asked } }
    var creditLimit: Int { min(max(pool.limit, Self.window.lowerBound), Self.window.upperBound) }
    var wantsBatches: Bool { hold == nil && context.mayStart && breaker.isClosed }

    func accept(_ given: Checkout.Batch) {
        let lane = given.id.lane ?? .high
        nextNumber &+= 1
        let batch: Batch
        do { batch = try Batch(decoding: given.body) } catch {
            // It stays in flight under our name, where an operator finds it; nothing is lost.
            context.log.error("batch cannot be read", metadata: ["batch": "\(given.id)", "error": "\(error)"])
            return
        }
        let one = HeldBatch(
            number: nextNumber, id: given.id, shard: given.id.shard, lane: lane, delivery: given.delivery,
            granted: given.granted, suspect: given.suspect, hasCrashed: given.crashes > 0, map: given.map,
            batch: batch)
        held[nextNumber] = one
        waiting[Int(lane.rawValue)].append(one)
        schedule()
    }

    func forget(_ batch: HeldBatch) {
        held[batch.number] = nil
        schedule()
    }

    /// Puts a batch at the head of its lane again, after more of it may be sent.
    func requeue(_ batch: HeldBatch) {
        guard held[batch.number] != nil, batch.hasNext else { return }
        let lane = Int(batch.lane.rawValue)
        if !waiting[lane].contains(where: { $0 === batch }) { waiting[lane].prepend(batch) }
        schedule()
    }

    /// Asks for more credit for the batches in hand that are not granted to their end.
    ///
    /// - Returns: whether there are such batches.
    func askForCredit() -> Bool {
        var hasSome = false
        for batch in held.values where batch.granted < batch.count && !batch.isCareful {
            hasSome = true
            if !batch.isReporting { reporter.report(batch) }
        }
        return hasSome
    }

    /// Gives batches back that have nothing in the air, when nothing more is to be sent.
    func returnIdleBatches() {
        switch hold {
        case .paused, .finishing: break
        case .doubt, nil: return
        }
        waiting = [[], []]
        for batch in held.values where batch.inAir == 0 && !batch.isReporting {
            if batch.settled > 0 { reporter.report(batch) } else { reporter.putBack(batch) }
        }
    }

    // MARK: The turn

    func schedule() {
        guard !isDue else { return }
        isDue = true
        Loop.atEndOfTurn(self)
    }

    func loopTurnEnded() {
        isDue = false
        feed()
        if wantsBatches { checkoutDesk.checkOut() }
    }

    /// Sends what may be sent on what has room for it.
    private func feed() {
        guard hold == nil, context.mayStart else { return }
        let now = ContinuousClock.now
        var isProbe = false
        switch breaker.permit(at: now) {
        case .all: break
        case .probe: isProbe = true
        case .nothing(let until):
            if let until { timer.start(after: until - now) }
            return
        }
        while let batch = nextBatch(), let connection = pool.roomiest {
            let sent = send(from: batch, over: connection, atMost: isProbe ? 1 : connection.room, at: now)
            if isProbe, sent > 0 {
                breaker.probeSent()
                break
            }
        }
        if nextBatch() != nil { pool.needConnection() }
    }

    /// The batch whose turn it is: high before bulk; while one is careful, it alone.
    private func nextBatch() -> HeldBatch? {
        if let careful = held.values.first(where: { $0.isCareful }) {
            guard pool.openStreams == 0 else { return nil }
            if careful.hasNext { return careful }
            if !careful.isReporting { reporter.report(careful) }
            return nil
        }
        for lane in waiting.indices {
            while let first = waiting[lane].first {
                if held[first.number] === first, first.hasNext { return first }
                waiting[lane].removeFirst()
            }
        }
        return nil
    }

    private func send(
        from batch: HeldBatch, over connection: any GatewayConnection, atMost most: Int,
        at now: ContinuousClock.Instant
    ) -> Int {
        var sent = 0
        let wallClock = WallClock.seconds
        batch.batch.bytes.withUnsafeBytes { bytes in
            while sent < most, let position = batch.next() {
                let push = batch.batch.pushes[position]
                let segment = Int(push.segment)
                if let deadline = batch.batch.segments[segment].options.deadline, deadline <= wallClock {
                    settle(batch, position, .expired)
                    continue
                }
                let token = UnsafeRawBufferPointer(rebasing: bytes[push.token])
                let taken = connection.send(
                    batch.head(of: segment, appTopic: topic), token: token,
                    id: batch.pushID(of: position, token: token),
                    payload: UnsafeRawBufferPointer(rebasing: bytes[push.payload]),
                    ticket: PushTicket(batch: batch.number, position: UInt32(position)), at: now)
                guard taken else {
                    batch.giveBack(position)
                    break
                }
                sent += 1
                if batch.isCareful { break }
            }
        }
        counts.sent += UInt64(sent)
        return sent
    }

    // MARK: What became of a push

    func settled(_ ticket: PushTicket, _ fate: Fate) {
        guard let batch = held[ticket.batch] else { return }
        let position = Int(ticket.position)
        switch fate {
        case .delivered:
            breaker.answered()
            streak.other()
            counts.delivered += 1
            batch.delivered(position)
            reporter.settled(batch)
            if provenGeneration != generation { prove() }
        case .unprocessed:
            breaker.probeReturned(at: .now)
            batch.giveBack(position)
            requeue(batch)
        case .unknown(let cause):
            if !breaker.isClosed { breaker.troubled(at: .now, using: &random) }
            let segment = batch.batch.segments[batch.segment(of: position)]
            settle(
                batch, position,
                segment.options.delivery == .atMostOnce
                    ? .lostTrack(cause: cause)
                    : .retry(.unknownOutcome, status: 0, reason: cause, retryAfterMilliseconds: 0))
        case .refused(let refusal): refused(batch, position, refusal)
        }
        if hold != nil, batch.inAir == 0 { returnIdleBatches() }
    }

    private func refused(_ batch: HeldBatch, _ position: Int, _ refusal: Refusal) {
        let retryAfter = (refusal.retryAfter ?? 0).multipliedReportingOverflow(by: 1000)
        func retry(_ cause: RetryCause, _ reason: String) -> Fact {
            .retry(
                cause, status: refusal.status, reason: reason,
                retryAfterMilliseconds: retryAfter.overflow ? .max : retryAfter.partialValue)
        }
        if case .serverTrouble = refusal.verdict {} else { breaker.answered() }
        if case .configurationWrong = refusal.verdict {} else { streak.other() }
        switch refusal.verdict {
        case .delivered: preconditionFailure("an acceptance told as a refusal")
        case .tokenDead(let reason, let timestamp, _):
            let registered = batch.batch.segments[batch.segment(of: position)].options.registeredAt
            let isDead = Verdict(
                status: Int(refusal.status), reason: reason, timestamp: timestamp, registeredAt: registered
            ).declaresDead
            settle(
                batch, position, .failed(reason: reason, status: refusal.status, isDead: isDead),
                timestamp: timestamp)
        case .requestWrong(let reason):
            settle(batch, position, .failed(reason: reason, status: refusal.status, isDead: false))
        case .configurationWrong(let reason): misconfigured(batch, position, refusal, reason)
        case .credentialsWrong(let reason): doubt(batch, position, .credentialsWrong, refusal, reason)
        case .credentialsStale(let reason): doubt(batch, position, .credentialsStale, refusal, reason)
        case .authenticationSlow(let reason): settle(batch, position, retry(.authSlow, reason))
        case .throttled(let reason): settle(batch, position, retry(.throttled, reason))
        case .serverTrouble(let reason, let reconnect):
            breaker.troubled(at: .now, using: &random)
            settle(batch, position, retry(.server, reason))
            if reconnect || !breaker.isClosed { pool.retireAll() }
        case .connectionOver:
            pool.retireAll()
            batch.giveBack(position)
            requeue(batch)
        }
    }

    /// The topic is wrong. One that the job chose is the job's fault; the app's own pauses it after some in a row.
    private func misconfigured(_ batch: HeldBatch, _ position: Int, _ refusal: Refusal, _ reason: String) {
        let options = batch.batch.segments[batch.segment(of: position)].options
        if options.topic == nil, streak.wrong() {
            return doubt(batch, position, .configurationWrong, refusal, reason)
        }
        settle(batch, position, .failed(reason: reason, status: refusal.status, isDead: false))
    }

    /// An answer that concerns the whole app: nothing more is sent until the coordinator has decided.
    private func doubt(
        _ batch: HeldBatch, _ position: Int, _ doubt: Notice.Doubt, _ refusal: Refusal, _ reason: String
    ) {
        batch.giveBack(position)
        requeue(batch)
        guard hold == nil, refusal.generation == generation else { return }
        hold = .doubt
        pool.retireAll()
        context.tell(.doubt(app: name, doubt, generation: generation, reason: reason))
    }

    private func settle(_ batch: HeldBatch, _ position: Int, _ fact: Fact, timestamp: Int64? = nil) {
        switch fact {
        case .failed, .lostTrack, .expired: counts.failed += 1
        case .retry: counts.retried += 1
        }
        batch.settle(position, fact, timestamp: timestamp)
        reporter.settled(batch)
    }

    private func prove() {
        provenGeneration = generation
        context.tell(.proved(app: name, generation: generation))
    }

    private var isFinishing: Bool {
        if case .finishing = hold { true } else { false }
    }

    // MARK: Connections

    func hasRoom(_ connection: any GatewayConnection) { schedule() }

    func isSpent(_ connection: any GatewayConnection, reason: String) {
        context.log.debug("connection spent", metadata: ["app": "\(name)", "reason": "\(reason)"])
        schedule()
    }

    func ended(_ connection: any GatewayConnection, reason: String) {
        pool.remove(connection)
        context.log.info("connection ended", metadata: ["app": "\(name)", "reason": "\(reason)"])
        schedule()
    }

    func dialFailed(_ reason: String, refusedByPeer: Bool) {
        context.log.warning("cannot connect", metadata: ["app": "\(name)", "reason": "\(reason)"])
        schedule()
        guard refusedByPeer, pool.refusalsInARow >= 3, hold == nil else { return }
        hold = .doubt
        context.tell(.doubt(app: name, .credentialsWrong, generation: generation, reason: reason))
    }

    func dialPauseEnded() { schedule() }
}

extension Verdict {
    /// The gateway said that the token is dead, and nothing newer speaks against it.
    fileprivate var declaresDead: Bool {
        if case .tokenDead(_, _, let declared) = self { declared } else { false }
    }
}
