package import FarmPolicy
import PushModel
package import StoreProtocol

/// The batches of one app that Redis has assigned to this worker, and the calls to Redis about these batches.
///
/// The inputs of the window are batches, responses of the gateway and replies of Redis. The outputs are the next push and
/// ``Action`` values. The window owns no connection, timer or clock. Separate parts keep the held batches and the queues for
/// sending, reports, returns and credit.
package final class DeliveryWindow {
    /// A call to Redis whose reply must be passed to the window, or a message to the coordinator.
    package enum Action {
        /// The reply goes to ``reported(_:_:)``.
        case report(Call, Report)
        /// The reply goes to ``putBack(_:_:)``.
        case putBack(Call, PutBack)
        /// The reply goes to ``quarantined(_:_:)``.
        case quarantine(QuarantineBatch)
        /// The reply goes to ``repeated(_:_:)``.
        case repeated(Report)
        /// Redis has new reported outcomes that the coordinator must settle.
        case hasReported
        /// The listed shards were withdrawn from this worker and have no held batches any more.
        case released([Int])
        /// A shard that was not withdrawn has another owner in Redis.
        case fenced
    }

    /// Identifies the batch of a call to Redis, with the batch's delivery and fencing token at the time of the call. The
    /// delivery and the fencing token may change before the reply arrives.
    package struct Call: Hashable {
        let batch: UInt32
        let delivery: Int
        let token: FenceToken
    }

    package enum Mode {
        case sending
        /// Sending is stopped, and the worker keeps its batches.
        case holding
        /// Sending has ended, and batches are returned to Redis.
        case returning
    }

    let worker: String
    let creditTotal: CreditTotal
    var held = HeldBatches()
    var queues = LaneQueues()
    var suspects = SuspectQueue()
    var credit: CreditQueue
    var reports = ReportQueue()
    /// Whether batches await their return to Redis.
    var areReturnsDue = false
    var recent = RecentOutcomes()
    var checkouts: ShardCheckouts
    /// Unreadable batches that Redis must quarantine.
    var unreadable: [BatchID: QuarantineBatch] = [:]
    var builder = ResultsBuilder()
    private let faults: FaultInjection<InjectedDeliveryFault>
    private var actions: [Action] = []
    private(set) var mode = Mode.sending
    /// The current time; the caller sets it before each event.
    package var now: Instant
    /// Whether a suspect batch of any app on this worker is being sent or waits to be sent. While this property is true, other
    /// batches get no credit.
    package var yieldsToSuspect = false

    /// - Parameter fault: a fault that a test injects.
    package init(worker: String, now: Instant, fault: InjectedDeliveryFault? = nil) {
        self.worker = worker
        self.now = now
        faults = FaultInjection(fault)
        creditTotal = CreditTotal()
        credit = CreditQueue(creditTotal)
        checkouts = ShardCheckouts(creditTotal)
    }

    package var shards: CheckoutShards { checkouts.shards }
    /// The number of positions that are granted or in flight and whose outcome Redis does not have, plus the requested credit.
    package var creditInUse: Int { creditTotal.sum }
    /// The delay until ``reportDue()`` must be called; nil when no call is due.
    package var delay: Duration? { reports.delay }
    /// Whether the window has no held batch and no call in progress.
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

    /// Drops outcomes of batches that were released so long ago that Redis can no longer lose these outcomes.
    package func dropOldOutcomes() { recent.dropOld(at: now) }

    // MARK: Settings

    /// Sets the largest number of positions that may be granted and unreported.
    package func setCreditLimit(_ limit: Int) { credit.limit = limit }

    /// Sets whether reports name the delivered positions.
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

    /// Sets the served shards, and returns the batches of all other shards to Redis.
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
            return activate(batch)
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
                given, reason: "the batch has \(batch.pushes.count) pushes, but its map \(given.map.count)")
        }
        let one = HeldBatch(
            number: held.nextNumber(), id: given.id, shard: given.id.shard, lane: given.id.lane ?? .high,
            delivery: given.delivery, granted: given.granted, suspicion: given.suspicion, map: given.map,
            batch: batch, creditTotal: creditTotal, route: held.route(of: given.id), faults: faults)
        if let past = recent[given.id] { one.restore(past) }
        held.add(one)
        activate(one)
    }

    private func activate(_ batch: HeldBatch) {
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

    /// Inserts a batch into its lane by age after more of its pushes became sendable.
    func requeue(_ batch: HeldBatch) {
        guard mode != .returning, !batch.isReleased else { return }
        if batch.isSuspect { return suspects.add(batch) }
        if batch.hasNext { queues.insert(batch) }
    }

    /// Expires held pushes whose deadline has passed. While the gateway is unreachable, only this call expires the pushes.
    ///
    /// - Parameter seconds: the current time in seconds since 1970.
    /// - Returns: the number of expired pushes.
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

    package func record(_ batch: HeldBatch, _ position: Int, as outcome: UndeliveredResult, timestamp: Int64?)
    {
        batch.record(position, as: outcome, timestamp: timestamp)
        outcomesRecorded(of: batch)
    }

    /// Reopens a push that the gateway certainly did not process.
    package func reopen(_ batch: HeldBatch, _ position: Int) {
        batch.reopen(position)
        proceed(batch)
    }
}
