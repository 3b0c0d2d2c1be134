package import FarmPolicy
import PushModel
package import StoreProtocol

/// The batches of one app that Redis has assigned to this worker, and the calls to Redis about them.
///
/// Events come in (batches, responses of the gateway, replies of Redis), and it says what to do: the next push,
/// and ``Action`` values. Owns no connection, no timer, no clock. Its parts have the state: batches that are held, that wait for their turn,
/// for a report, for its return, for credit.
package final class Window {
    /// A call to be made, whose reply must come back here, or a message to the coordinator.
    package enum Action {
        /// To be answered by ``answered(_:_:)``.
        case report(Call, Report)
        /// To be answered by ``putBack(_:_:)``.
        case putBack(Call, PutBack)
        /// To be answered by ``quarantined(_:_:)``.
        case quarantine(QuarantineBatch)
        /// To be answered by ``repeated(_:_:)``.
        case repeated(Report)
        /// Results wait for the coordinator to settle them.
        case hasReported
        /// Nothing is left of these shards, which were withdrawn.
        case released([Int])
        /// Redis says that a shard which was not withdrawn belongs to another owner.
        case fenced
    }

    /// What a call was about: the batch may have changed when the answer comes.
    package struct Call: Hashable {
        let batch: UInt32
        let delivery: Int
        let token: FenceToken
    }

    package enum Mode {
        case sending
        /// Nothing is sent for now; batches stay here.
        case holding
        /// Nothing is sent any more; batches go back.
        case returning
    }

    let worker: String
    let tally: ExposureTally
    var held = HeldBatches()
    var queues = LaneQueues()
    var suspects = SuspectQueue()
    var credit: CreditQueue
    var reports = ReportQueue()
    /// Batches wait to be given back.
    var areReturnsDue = false
    var recent = RecentOutcomes()
    var checkouts: ShardCheckouts
    /// Batches that cannot be read, and that Redis is to quarantine.
    var unreadable: [BatchID: QuarantineBatch] = [:]
    var builder = ResultsBuilder()
    private let faults: FaultInjection<DeliveryFault>
    private var actions: [Action] = []
    private(set) var mode = Mode.sending
    /// To be set before each event.
    package var now: Instant
    /// A suspect batch of this worker, whatever its app, waits for its turn or has it: no other is to get credit.
    package var yieldsToSuspect = false

    /// - Parameter fault: one that a test puts in.
    package init(worker: String, now: Instant, fault: DeliveryFault? = nil) {
        self.worker = worker
        self.now = now
        faults = FaultInjection(fault)
        tally = ExposureTally()
        credit = CreditQueue(tally)
        checkouts = ShardCheckouts(tally)
    }

    package var shards: ReadyShards { checkouts.shards }
    /// Granted positions without a known outcome, with the credit that is asked for.
    package var exposure: Int { tally.sum }
    /// In how long ``reportDue()`` is to be called, if at all.
    package var delay: Duration? { reports.delay }
    /// Nothing is held, being checked out, or being said any more.
    package var isIdle: Bool {
        held.isEmpty && unreadable.isEmpty && !checkouts.isPending && recent.isIdle && checkouts.isConfirmed
    }

    package func takeActions() -> [Action] {
        if areReturnsDue { returnIdle() }
        guard !actions.isEmpty else { return [] }
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    func add(_ action: Action) { actions.append(action) }

    // MARK: Held batches

    package var isEmpty: Bool { held.isEmpty }
    package var batchCount: Int { held.count }
    package var holdsBulk: Bool { held.values.contains { $0.lane == .bulk } }

    package func batch(_ number: UInt32) -> HeldBatch? { held[number] }

    package func batch(_ id: BatchID) -> HeldBatch? { held[id] }

    /// Drops outcomes of batches that were released too long ago for Redis to have lost them.
    package func dropOldOutcomes() { recent.dropOld(at: now) }

    // MARK: Orders

    /// The most credit that may be granted and unreported.
    package func setCreditLimit(_ limit: Int) { credit.limit = limit }

    /// Reports name the positions that were delivered.
    package func setMarksDelivered(_ marksDelivered: Bool) { builder.marksDelivered = marksDelivered }

    package func change(to mode: Mode) {
        guard mode != self.mode else { return }
        self.mode = mode
        switch mode {
        case .sending: for batch in held.values { requeue(batch) }
        case .holding: break
        case .returning:
            queues.removeAll()
            areReturnsDue = true
        }
    }

    /// These shards are served from now on; of the others everything goes back.
    package func assign(_ tokens: [Int: FenceToken]) {
        if faults.has(.givesNothingBack) {
            for batch in held.values where shards.tokens[batch.shard] != nil && tokens[batch.shard] == nil {
                _ = held.drop(batch.number)
            }
        }
        checkouts.assign(tokens)
        for batch in held.values {
            batch.isHalted =
                !faults.has(.ignoresWithdrawal)
                && (tokens[batch.shard] == nil || held.isBehindReturn(batch))
            if !batch.isHalted { requeue(batch) }
        }
        areReturnsDue = true
        releaseShards()
    }

    // MARK: Batches

    func accept(_ given: Checkout.Batch) {
        if faults.has(.holdsTwice) { held.forgetID(given.id) }
        if let batch = held[given.id] {
            batch.redeliver(given)
            return welcome(batch)
        }
        let batch: Batch
        do { batch = try Batch(decoding: given.body) } catch {
            return quarantine(given, reason: "the batch cannot be read: \(error)")
        }
        guard batch.pushes.count <= PositionRuns.most else {
            return quarantine(
                given, reason: "the batch has \(batch.pushes.count) pushes, more than \(PositionRuns.most)")
        }
        guard given.map.count == batch.pushes.count else {
            return quarantine(
                given, reason: "the batch has \(batch.pushes.count) pushes, its map \(given.map.count)")
        }
        let one = HeldBatch(
            number: held.nextNumber(), id: given.id, shard: given.id.shard, lane: given.id.lane ?? .high,
            delivery: given.delivery, granted: given.granted, suspicion: given.suspicion, map: given.map,
            batch: batch, tally: tally, route: held.route(of: given.id), faults: faults)
        if let past = recent[given.id] { one.restore(past) }
        held.add(one)
        welcome(one)
    }

    private func welcome(_ batch: HeldBatch) {
        batch.isHalted = shards.tokens[batch.shard] == nil || held.isBehindReturn(batch)
        credit.add(batch)
        if batch.unreported > 0 { report(batch) }
        proceed(batch)
    }

    func release(_ batch: HeldBatch) {
        guard held.remove(batch) else { return }
        if batch.knowsOutcomes { recent.add(batch, at: now) }
        suspects.remove(batch)
        releaseShards()
        if faults.has(.remembersNothing) { recent = RecentOutcomes() }
    }

    /// Puts a batch in its place in its lane again, after more of it may be sent: older ones go first.
    func requeue(_ batch: HeldBatch) {
        guard mode != .returning, !batch.isReleased else { return }
        if batch.isSuspect { return suspects.add(batch) }
        if batch.hasNext { queues.insert(batch) }
    }

    /// Expires held pushes whose deadline has passed: the gateway may be unreachable for long.
    ///
    /// - Parameter seconds: since 1970.
    /// - Returns: how many pushes.
    package func expireOverdue(at seconds: Int64) -> Int {
        var sum = 0
        for batch in held.values {
            let count = batch.expire(now: seconds)
            guard count > 0 else { continue }
            sum += count
            outcomesRecorded(of: batch)
        }
        return sum
    }

    // MARK: Responses of the gateway

    package func delivered(_ batch: HeldBatch, _ position: Int) {
        batch.delivered(position)
        outcomesRecorded(of: batch)
    }

    package func record(_ batch: HeldBatch, _ position: Int, as outcome: ReportedOutcome, timestamp: Int64?) {
        batch.record(position, as: outcome, timestamp: timestamp)
        outcomesRecorded(of: batch)
    }

    /// The gateway certainly did not act on the push.
    package func giveBack(_ batch: HeldBatch, _ position: Int) {
        batch.giveBack(position)
        proceed(batch)
    }
}
