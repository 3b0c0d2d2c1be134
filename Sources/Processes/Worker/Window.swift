import DequeModule
import FarmPolicy
import FarmStore
import PushModel

/// What Redis has put into this worker's hands of one app, and what is to be said to Redis about it.
///
/// Is told what happens (batches, answers of the gateway, answers of Redis), and says what is to be done: the next push,
/// and ``Action`` values. Owns no connection, no timer, no clock. Not final only so that tests can break it on purpose.
class Window {
    typealias Instant = ContinuousClock.Instant

    /// A call to be made, whose answer is to be told, or something to be told to the coordinator.
    enum Action {
        /// To be answered by ``answered(_:_:)``.
        case report(Call, Report)
        /// To be answered by ``givenBack(_:_:)``.
        case putBack(Call, PutBack)
        /// To be answered by ``parked(_:_:)``.
        case park(Park)
        /// To be answered by ``repeated(_:_:)``.
        case repeated(Report)
        /// Results wait for the gatherer.
        case hasReported
        /// Nothing is left of these shards, which were withdrawn.
        case released([Int])
        /// Redis says that a shard which was not withdrawn belongs to another owner.
        case fenced
    }

    /// What a call was about: the batch may have changed when the answer comes.
    struct Call: Hashable {
        let batch: UInt32
        let delivery: Int
        let token: FenceToken
    }

    enum Mode {
        case sending
        /// Nothing is sent for now; what is in hand stays.
        case holding
        /// Nothing is sent any more; what is in hand goes back.
        case returning
    }

    let worker: String
    let shards = ReadyShards()
    let tally = ExposureTally()
    var held: [UInt32: HeldBatch] = [:]
    var numbers: [BatchID: UInt32] = [:]
    var ring = RecentOutcomes()
    var actions: [Action] = []
    var builder = ResultsBuilder()
    /// Batches with settled positions that wait for the next ``reportDirty()``.
    var dirty: [HeldBatch] = []
    /// In how long ``reportDirty()`` is to be called, if at all.
    var delay: Duration?
    /// Batches that cannot be read, and are to be parked.
    var unreadable: [BatchID: Park] = [:]
    /// Batches wait to be given back.
    var hasReturns = false
    /// Redis may have been asked to take a batch back, and not have answered.
    var mayHaveReturns = false
    /// Shards in which batches may be stamped with our name that we do not know of.
    var unsure: Set<Int> = []
    /// The shards that a checkout under way asks, and the credit that it brings.
    var checkingOut: Set<Int> = []
    var isCheckingOut = false
    var checkoutCredit = 0
    /// High before bulk, but bulk is never starved.
    var share = LaneShare()
    /// Reports from the ring without an answer yet.
    var repeating = 0
    var lastDoubt: Instant?
    /// Redis refused something: before then nothing more is asked for.
    var restEnd: Instant?
    /// Set before anything is told.
    var now: Instant
    /// The most that may be granted and unreported.
    var limit = 512
    private(set) var mode = Mode.sending
    /// By lane, in the order in which they were checked out.
    var waiting: [Deque<HeldBatch>] = [[], []]
    /// By lane, how many of them are passed over in this turn.
    var passed = [0, 0]
    /// Of the shards and lanes with batches in hand.
    private var routes: [Int: ShardRoute] = [:]
    /// Batches with suspects that may have ended a worker: one after the other, each alone.
    private var crashed: [HeldBatch] = []
    /// The same, with those of which nothing more may be sent for now.
    private var suspected: [HeldBatch] = []
    /// A careful batch of this worker, whatever its app, waits for its turn or has it: no other is to get credit.
    var yields = false
    /// Batches that were not granted to their end when they were last looked at.
    var partial: [HeldBatch] = []
    private var nextNumber: UInt32 = 0

    init(worker: String, now: Instant) {
        self.worker = worker
        self.now = now
    }

    /// How a batch is held; for tests.
    var batchType: HeldBatch.Type { HeldBatch.self }

    /// Granted positions without a known outcome, with the credit that is asked for.
    var exposure: Int { tally.sum }
    /// Nothing is held, being checked out, or being said any more.
    var isIdle: Bool {
        held.isEmpty && unreadable.isEmpty && !isCheckingOut && repeating == 0 && !ring.hasRepeats
            && !unsure.contains { shards.token(of: $0) != nil }
    }

    func takeActions() -> [Action] {
        if hasReturns { returnIdle() }
        guard !actions.isEmpty else { return [] }
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    // MARK: Orders

    func change(to mode: Mode) {
        guard mode != self.mode else { return }
        self.mode = mode
        switch mode {
        case .sending: for batch in held.values { requeue(batch) }
        case .holding: break
        case .returning:
            waiting = [[], []]
            hasReturns = true
        }
    }

    /// These shards are served from now on; of the others everything goes back.
    func assign(_ tokens: [Int: FenceToken]) {
        // Batches of a shard that comes back may still bear our name, though we have let go of them.
        for (shard, token) in tokens where shards.token(of: shard) != token { unsure.insert(shard) }
        shards.assign(tokens)
        for batch in held.values {
            batch.isHalted = tokens[batch.shard] == nil || isBehindReturns(batch)
            if !batch.isHalted { requeue(batch) }
        }
        hasReturns = true
        release()
    }

    // MARK: Batches

    func accept(_ given: Checkout.Batch) {
        if let number = numbers[given.id], let batch = held[number] {
            batch.redeliver(given)
            return welcome(batch)
        }
        let batch: Batch
        do { batch = try Batch(decoding: given.body) } catch {
            return park(given, reason: "the batch cannot be read: \(error)")
        }
        guard batch.pushes.count <= PositionRuns.most else {
            return park(
                given, reason: "the batch has \(batch.pushes.count) pushes, more than \(PositionRuns.most)")
        }
        guard given.map.count == batch.pushes.count else {
            return park(
                given, reason: "the batch has \(batch.pushes.count) pushes, its map \(given.map.count)")
        }
        nextNumber &+= 1
        let one = batchType.init(
            number: nextNumber, id: given.id, shard: given.id.shard, lane: given.id.lane ?? .high,
            delivery: given.delivery, granted: given.granted,
            suspicion: given.suspicion, map: given.map, batch: batch, tally: tally, route: route(of: given.id)
        )
        if let past = ring[given.id] { one.recall(past) }
        held[nextNumber] = one
        numbers[given.id] = nextNumber
        welcome(one)
    }

    private func route(of id: BatchID) -> ShardRoute {
        let list = id.shard << 1 | Int((id.lane ?? .high).rawValue)
        if let route = routes[list] { return route }
        let route = ShardRoute()
        routes[list] = route
        return route
    }

    private func welcome(_ batch: HeldBatch) {
        batch.isHalted = shards.tokens[batch.shard] == nil || isBehindReturns(batch)
        if batch.granted < batch.count, !partial.contains(where: { $0 === batch }) { partial.append(batch) }
        if batch.settled > 0 { report(batch) }
        proceed(batch)
    }

    func forget(_ batch: HeldBatch) {
        guard held.removeValue(forKey: batch.number) != nil else { return }
        numbers[batch.id] = nil
        batch.leaveTally()
        batch.leaveRoute()
        if batch.route.batches == 0 { routes[batch.shard << 1 | Int(batch.lane.rawValue)] = nil }
        if batch.knowsOutcomes { ring.add(batch, at: now) }
        if !crashed.isEmpty { crashed.removeAll { $0 === batch } }
        release()
    }

    /// Puts a batch in its place in its lane again, after more of it may be sent: older ones go first.
    func requeue(_ batch: HeldBatch) {
        guard mode != .returning, held[batch.number] != nil else { return }
        if batch.isCareful {
            if !crashed.contains(where: { $0 === batch }) { crashed.append(batch) }
            if !suspected.contains(where: { $0 === batch }) { suspected.append(batch) }
            return
        }
        guard batch.hasNext else { return }
        let lane = Int(batch.lane.rawValue)
        let place = waiting[lane].firstIndex { $0.number >= batch.number } ?? waiting[lane].endIndex
        if place == waiting[lane].endIndex || waiting[lane][place] !== batch {
            waiting[lane].insert(batch, at: place)
        }
    }

    /// The batch that is to be sent next with nothing else in the air, if there is one.
    var careful: HeldBatch? {
        guard !crashed.isEmpty, mode == .sending else { return nil }
        crashed.removeAll { !$0.isCareful || $0.standing != .ours || $0.isHalted }
        // One that has credit, such as of a shard that was withdrawn and is back, goes before those that wait for theirs.
        return crashed.first { $0.exposure + $0.asked > 0 } ?? crashed.first
    }

    /// Pushes of a careful batch are in the air, whether more of it may be sent or not.
    var hasCarefulInAir: Bool {
        guard !suspected.isEmpty else { return false }
        suspected.removeAll { held[$0.number] !== $0 || !$0.isCareful }
        return suspected.contains { $0.inAir > 0 }
    }

    /// Nothing of the app is in the air or has credit, but for the careful batch.
    var isStill: Bool { exposure == (careful.map { $0.exposure + $0.asked } ?? 0) }

    /// Expires what is in hand and can no longer be sent in time: the gateway may be out of reach for long.
    ///
    /// - Parameter seconds: since 1970.
    /// - Returns: how many pushes.
    func expireOverdue(at seconds: Int64) -> Int {
        var sum = 0
        for batch in held.values {
            let count = batch.expire(now: seconds)
            guard count > 0 else { continue }
            sum += count
            settled(batch)
        }
        return sum
    }

    // MARK: Answers of the gateway

    func delivered(_ batch: HeldBatch, _ position: Int) {
        batch.delivered(position)
        settled(batch)
    }

    func settle(_ batch: HeldBatch, _ position: Int, _ fact: ReportedOutcome, timestamp: Int64?) {
        batch.settle(position, fact, timestamp: timestamp)
        settled(batch)
    }

    /// The gateway certainly did not act on the push.
    func giveBack(_ batch: HeldBatch, _ position: Int) {
        batch.giveBack(position)
        proceed(batch)
    }
}
