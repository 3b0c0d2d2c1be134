import FarmPolicy
package import PushModel
import StoreProtocol

/// A batch that Redis has assigned to this worker, with the state of each position. The batch uses no connection and no clock.
///
/// Positions count from 0. A position passes through these states: open, in flight, outcome unreported, outcome being reported,
/// outcome reported. A push that the gateway did not process becomes open again. An outcome becomes unreported again when its
/// report fails or Redis loses the outcome. The batch keeps outcomes until the batch is released.
package final class HeldBatch {
    enum Ownership {
        /// This worker owns the batch: it may send open positions and decides about retries.
        case ours
        /// This worker has asked Redis to take the batch back; Redis may already have taken the batch back.
        case returning
        /// Another worker owns the batch. This worker awaits the responses to pushes in flight, and reports the outcomes that
        /// Redis accepts from any worker, such as deliveries.
        case stale
        /// Redis needs no more reports of the batch. This worker still awaits responses to pushes in flight.
        case ended
    }

    package let number: UInt32
    let id: BatchID
    package let shard: Int
    package let lane: Lane
    /// When the batch's jobs were split, in milliseconds of the Redis clock; nil for a batch of retries.
    package let waitsSince: Int64?
    package let batch: Batch
    private(set) var delivery: Int
    private(set) var ownership = Ownership.ours {
        didSet { if mustCompare { updateRoute() } }
    }
    /// The end of the granted positions: only positions before this end may be sent.
    private(set) var granted: Int
    /// The number of positions in flight.
    var inFlight = 0 {
        didSet { if !isFree { route.inFlight += inFlight - oldValue } }
    }
    /// Whether the batch may use every connection, because no device occurs twice in the batch, and no device of the batch occurs
    /// in another held batch.
    var isFree = false
    /// The route that all batches of the same shard and lane share.
    package let route: ShardRoute
    /// The number of positions with an outcome that no report contains yet.
    var unreported = 0
    /// The number of positions in the report in progress.
    var reporting = 0
    /// The number of positions whose outcome Redis has, from this worker or another owner.
    var reported = 0
    /// The number of positions that are granted or in flight and whose outcome Redis does not have. If this worker crashed now,
    /// Redis would not know the outcomes of these positions.
    var creditInUse = 0 {
        didSet { creditTotal.sum += creditInUse - oldValue }
    }
    /// Which pushes of the batch were in flight when an earlier worker crashed; nil if no worker crashed.
    private var suspicion: Suspicion?

    var positions: [PushState]
    /// The position where the search for the next open position begins; no earlier position is open.
    var cursor = 0
    /// The outcomes of positions that were not delivered.
    var outcomes: [Int: UndeliveredResult] = [:]
    var timestamps: [Int: Int64] = [:]
    /// The reports that Redis has accepted. The worker keeps accepted reports, so that it can repeat a report that Redis loses.
    var reports: [OutcomeReport] = []
    /// The report in progress.
    var current: OutcomeReport?
    var sharedHead = SharedPushHead()
    /// The number of positions for which credit was requested. These positions count as granted until Redis replies.
    var asked = 0 {
        didSet { creditTotal.sum += asked - oldValue }
    }
    private var creditTotal: CreditTotal
    let faults: FaultInjection<InjectedDeliveryFault>
    /// Whether this worker has released the batch.
    private(set) var isReleased = false
    /// Whether the batch is in the queue of batches to report.
    var isDirty = false
    /// Whether a report is in progress.
    var isReporting = false
    /// Whether sending is stopped because the shard was withdrawn.
    var isHalted = false
    /// Whether this worker must compare the batch with Redis's map of the positions before the worker sends pushes, because
    /// Redis may have lost its last writes. The next reply to a report contains the map.
    var mustCompare = false {
        didSet { if mustCompare != oldValue { updateRoute() } }
    }

    /// - Parameter map: one byte per position; "." means open.
    init(
        number: UInt32, id: BatchID, shard: Int, lane: Lane, delivery: Int, granted: Int,
        suspicion: Suspicion?, map: [UInt8], batch: Batch, creditTotal: CreditTotal = CreditTotal(),
        route: ShardRoute = ShardRoute(), faults: FaultInjection<InjectedDeliveryFault> = FaultInjection()
    ) {
        (self.creditTotal, self.route, self.faults) = (creditTotal, route, faults)
        self.number = number
        self.id = id
        self.shard = shard
        self.lane = lane
        waitsSince = delivery > 1 ? nil : id.waitsSince
        self.delivery = delivery
        self.granted = min(max(0, granted), map.count)
        self.suspicion = suspicion
        self.batch = batch
        positions = map.map { $0 == UInt8(ascii: ".") ? .open : .known }
        reported = positions.count { $0 == .known }
        creditInUse = positions[..<self.granted].count { $0 == .open }
        creditTotal.sum += creditInUse
        route.join(self)
    }

    /// Subtracts the batch's credit from the window's ``CreditTotal`` when the batch is released.
    func removeFromCreditTotal() {
        guard !faults.has(.leavesCredit) else { return }
        creditTotal.sum -= creditInUse + asked
        creditTotal = CreditTotal()
    }

    /// Removes the released batch from its route. The batch has no pushes in flight.
    func removeFromRoute() {
        isReleased = true
        inFlight = 0
        route.leave(self)
    }

    private func updateRoute() {
        if mustCompare, ownership == .ours {
            route.uncompared.insert(number)
        } else {
            route.uncompared.remove(number)
        }
    }

    /// The devices of the batch's pushes, as ``device(of:)`` identifies them; computed at first use.
    private(set) lazy var devices: Set<UInt64> = {
        var devices = Set<UInt64>(minimumCapacity: count)
        for position in 0..<count { devices.insert(device(of: position)) }
        return devices
    }()

    /// Whether all pushes go to different devices. Pushes to different devices may use several connections at a time.
    var isOfDistinctDevices: Bool { devices.count == count }

    /// An upper bound of the pushes that may be sent now; some of these pushes may already have an outcome.
    var sendable: Int { max(0, min(granted, count) - cursor) }

    var count: Int { positions.count }
    /// Whether every position has an outcome.
    var isComplete: Bool { reported + reporting + unreported == count }
    /// Whether the batch can be released: no push is in flight, no outcome is unreported, and no report is in progress.
    var isIdle: Bool {
        (inFlight == 0 || faults.has(.releasesInFlight)) && unreported == 0 && !isReporting
    }
    /// Whether this worker knows the outcome of at least one push that is reported.
    var knowsOutcomes: Bool {
        !reports.isEmpty || positions.contains { $0 == .reportedDelivered || $0 == .reportedOther }
    }
    /// Whether open positions within the credit may be sent.
    var maySend: Bool {
        (ownership == .ours || faults.has(.sendsStale)) && !isHalted
            && (!mustCompare || faults.has(.sendsUncompared))
    }
    /// Whether a worker crashed while it held the batch, and a push that may have caused the crash still has no outcome. While a
    /// suspect batch is sent, this worker has no other push in flight.
    package var isSuspect: Bool { suspicion?.sendsAlone == true && hasSuspects }
    private var hasSuspects: Bool { suspicion?.hasSuspects(among: positions) ?? false }

    /// Returns the end of the positions that this worker wants Redis to grant: at most `room` positions after the end of the
    /// granted positions. If the batch is suspect, the end includes only one more group of suspects, and only when no push of the
    /// batch is in flight.
    ///
    /// The end always includes all positions in flight, because positions in flight may be beyond ``granted`` if Redis has lost a
    /// grant.
    func wanted(room: Int) -> Int {
        let sent = granted < cursor && inFlight > 0 ? (positions.lastIndex(of: .inFlight) ?? 0) + 1 : 0
        let least = max(granted, sent)
        if let suspicion, isSuspect {
            if inFlight > 0 { return least }
            if let end = suspicion.groupEnd(in: positions, granted: granted) { return max(least, end) }
        }
        return min(count, max(least, granted + room + (faults.has(.asksForMore) ? 7 : 0)))
    }

    /// Sets the granted end that Redis returned. The returned end may be less than the present end.
    func setGranted(_ position: Int) { granted = min(max(0, position), count) }

    func grant(upTo position: Int) {
        let limit = min(faults.has(.grantsMore) ? position + 1 : position, count)
        guard limit > granted else { return }
        creditInUse += positions[granted..<limit].count { $0 == .open }
        granted = limit
    }

    // MARK: Standing

    /// Stops sending because another worker owns the batch. From now on, only outcomes that Redis accepts from any worker are
    /// reported.
    func becomeStale() {
        guard ownership != .ended else { return }
        ownership = .stale
        for (position, outcome) in outcomes where positions[position] == .other && !outcome.isFact {
            markReported(position)
        }
        recount()
    }

    /// Marks the batch as released by Redis.
    func end() {
        guard !faults.has(.neverEnds) else { return }
        ownership = .ended
        for position in positions.indices where positions[position].isUnreported { markReported(position) }
        recount()
    }

    /// Stops sending before the worker returns the batch to Redis. Sending stays stopped even if the call to Redis fails.
    func beginReturn() {
        if !faults.has(.sendsReturning) { ownership = .returning }
    }

    /// Whether a report must precede the return to Redis. A report must come first if outcomes are unreported or if Redis may
    /// have lost reported outcomes.
    var mustReportFirst: Bool { ownership == .returning && (mustCompare || unreported > 0) }

    /// Continues with a batch that Redis has assigned to this worker again. Known outcomes are kept.
    func redeliver(_ given: Checkout.Batch) {
        ownership = .ours
        (delivery, suspicion) = (given.delivery, given.suspicion)
        isHalted = false
        reconcile(given.map, granted: given.granted)
        injectRedeliveryFault()
    }

    /// Marks a position as reported, because Redis has the outcome or does not need it.
    func markReported(_ position: Int) {
        positions[position] = positions[position] == .delivered ? .reportedDelivered : .reportedOther
        unreported -= 1
        reported += 1
    }

    /// Recomputes ``creditInUse``.
    func recount() {
        creditInUse = positions.indices.count { usesCredit($0) }
    }

    func usesCredit(_ position: Int) -> Bool {
        let state = positions[position]
        return state == .open ? position < granted && ownership == .ours : !state.isReported
    }
}
