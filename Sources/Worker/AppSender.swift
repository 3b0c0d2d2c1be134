import APNs
import ControlChannel
import DequeModule
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
@Loop final class AppSender: ConnectionPool.Owner, TurnListener {
    let context: WorkerContext
    let name: String
    let store: AppStore
    private(set) var topic: String
    let shards = ReadyShards()
    var held: [UInt32: HeldBatch] = [:]
    /// By lane, in the order in which they were checked out.
    private var waiting: [Deque<HeldBatch>] = [[], []]
    /// Batches with suspects: what may have ended a worker.
    private var crashed: [HeldBatch] = []
    /// Batches that were not granted to their end when they were last looked at.
    private var partial: [HeldBatch] = []
    private let tally = ExposureTally()
    private var nextNumber: UInt32 = 0
    private(set) lazy var pool = ConnectionPool(owner: self)
    var breaker = ServerBreaker()
    var streak = ConfigurationStreak()
    var random = SystemRandomNumberGenerator()
    private var isDue = false
    private lazy var timer = Timer { [unowned self] in schedule() }
    lazy var reporter = Reporter(self)
    private lazy var checkoutDesk = CheckoutDesk(self)

    /// Why nothing is sent, if nothing is.
    var hold: Hold?
    /// Credentials of this generation were told to be accepted.
    var provenGeneration: UInt32?
    private(set) var generation: UInt32 = 0
    var counts = Notice.Beat()

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
    var exposure: Int { tally.sum }
    var creditLimit: Int { min(max(pool.limit, Self.window.lowerBound), Self.window.upperBound) }
    var wantsBatches: Bool { hold == nil && context.mayStart && breakerAllows }
    /// A probe needs a push as well.
    private var breakerAllows: Bool {
        if breaker.isClosed { return true }
        if case .probe = breaker.permit(at: .now) { return true }
        return false
    }

    func accept(_ given: Checkout.Batch) {
        let lane = given.id.lane ?? .high
        nextNumber &+= 1
        let batch: Batch
        do { batch = try Batch(decoding: given.body) } catch {
            // It stays in flight under our name, where an operator finds it; nothing is lost.
            context.log.error(
                "batch cannot be read", metadata: ["batch": "\(given.id)", "error": "\(error)"])
            return
        }
        guard given.map.count == batch.pushes.count else {
            context.log.error("batch and its map do not match", metadata: ["batch": "\(given.id)"])
            return
        }
        #if FAILPOINTS
            for segment in batch.segments.indices {
                Failpoint.hit("batch.read", of: batch.jobID(of: segment))
            }
        #endif
        let one = HeldBatch(
            number: nextNumber, id: given.id, shard: given.id.shard, lane: lane, delivery: given.delivery,
            granted: given.granted, caution: given.caution, map: given.map, batch: batch, tally: tally)
        held[nextNumber] = one
        if one.granted < one.count { partial.append(one) }
        if one.isCareful { crashed.append(one) } else { waiting[Int(lane.rawValue)].append(one) }
        schedule()
    }

    func forget(_ batch: HeldBatch) {
        guard held.removeValue(forKey: batch.number) != nil else { return }
        batch.leaveTally()
        if !crashed.isEmpty { crashed.removeAll { $0 === batch } }
        context.solitude.changed()
        schedule()
    }

    /// Puts a batch in its place in its lane again, after more of it may be sent: older ones go first.
    func requeue(_ batch: HeldBatch) {
        guard held[batch.number] != nil, !batch.isCareful, batch.hasNext else { return }
        let lane = Int(batch.lane.rawValue)
        let place = waiting[lane].firstIndex { $0.number >= batch.number } ?? waiting[lane].endIndex
        if place == waiting[lane].endIndex || waiting[lane][place] !== batch {
            waiting[lane].insert(batch, at: place)
        }
        schedule()
    }

    /// Asks for more credit for the batches in hand that are not granted to their end.
    ///
    /// - Returns: whether there are such batches.
    func askForCredit() -> Bool {
        guard !partial.isEmpty else { return false }
        partial.removeAll { $0.granted >= $0.count || held[$0.number] !== $0 }
        var hasSome = false
        for batch in partial where !batch.isCareful {
            hasSome = true
            if !batch.isReporting { reporter.report(batch) }
        }
        return hasSome
    }

    /// Expires what is in hand and can no longer be sent in time: the gateway may be out of reach for long.
    func expireOverdue() {
        let now = WallClock.seconds
        for batch in held.values {
            let count = batch.expire(now: now)
            guard count > 0 else { continue }
            counts.failed += UInt64(count)
            reporter.settled(batch)
        }
    }

    /// Gives batches back that have nothing in the air, when nothing more is to be sent.
    func returnIdleBatches() {
        switch hold {
        case .paused, .finishing: break
        case .doubt, nil: return
        }
        waiting = [[], []]
        // Each goes to the head of its list: the newest first, and none before those that came after it.
        var blocked: Set<Int> = []
        for batch in held.values.sorted(by: { $0.number > $1.number }) {
            let list = batch.shard << 1 | Int(batch.lane.rawValue)
            let isIdle = batch.inAir == 0 && !batch.isReporting
            if isIdle, batch.settled > 0 {
                reporter.report(batch)
            } else if isIdle, !blocked.contains(list) {
                reporter.putBack(batch)
                continue
            }
            blocked.insert(list)
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
        if wantsBatches, !context.solitude.isWanted { checkoutDesk.checkOut() }
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
            // The connection did not take what it had room for: never ask it again and again.
            guard sent > 0 || !batch.hasNext else { break }
        }
        if nextBatch() != nil || !crashed.isEmpty && pool.roomiest == nil { pool.needConnection() }
    }

    /// The batch whose turn it is: high before bulk, and careful ones when nothing else has credit.
    private func nextBatch() -> HeldBatch? {
        for lane in waiting.indices {
            while let first = waiting[lane].first {
                if held[first.number] === first, first.hasNext { return first }
                waiting[lane].removeFirst()
            }
        }
        guard let careful = carefulBatch, context.solitude.admits(self) else { return nil }
        if careful.hasNext { return careful }
        if !careful.isReporting { reporter.report(careful) }
        return nil
    }

    /// The batch that is to be sent with nothing else in the air, if there is one and it can be sent.
    var carefulBatch: HeldBatch? {
        guard !crashed.isEmpty, canSend else { return nil }
        crashed.removeAll { !$0.isCareful }
        return crashed.first
    }

    /// Nothing of it is in the air or may be sent, but for the careful batch.
    var isStill: Bool {
        let own = carefulBatch.map { $0.exposure + $0.asked } ?? 0
        return exposure == own || pool.openStreams == 0 && !canSend
    }

    private var canSend: Bool { wantsBatches && (pool.openStreams > 0 || pool.roomiest != nil) }

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
