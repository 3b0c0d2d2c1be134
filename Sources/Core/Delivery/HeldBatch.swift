import FarmPolicy
package import PushModel
import StoreProtocol

/// A batch that Redis has assigned to this worker: which of its positions may be sent, are in flight, have an outcome,
/// and are known to Redis. Knows no connection and no clock.
///
/// Positions count from 0. A position goes from open to in flight, to an unreported outcome, to being reported, to reported;
/// an unprocessed one goes back to open, one whose report failed, or that Redis has forgotten, back to unreported.
/// Its outcome is kept to the end.
package final class HeldBatch {
    enum Ownership {
        /// It is ours: its open positions may be sent, and we decide about retries.
        case ours
        /// Redis was asked to take it back, and may have done so.
        case goingBack
        /// Another worker owns it. Pushes in flight are awaited; outcomes that hold for any owner are reported.
        case stale
        /// Redis needs no more reports of it. Responses to pushes in flight are awaited.
        case ended
    }

    package let number: UInt32
    let id: BatchID
    package let shard: Int
    package let lane: Lane
    /// When its jobs were split, in Redis's milliseconds; nil of a batch that was tried before.
    package let waitsSince: Int64?
    package let batch: Batch
    private(set) var delivery: Int
    private(set) var ownership = Ownership.ours {
        didSet { if mustCompare { updateRoute() } }
    }
    /// Until here positions may be sent: what Redis has granted.
    private(set) var granted: Int
    /// Positions in flight.
    var inFlight = 0 {
        didSet { if !isFree { route.inFlight += inFlight - oldValue } }
    }
    /// It shares no device with another held batch, and has none twice: it may use every connection.
    var isFree = false
    /// Shared with the other batches of its shard and lane.
    package let route: ShardRoute
    /// Positions with an outcome that no report carries yet.
    var unreported = 0
    /// Positions in the report that is under way.
    var reporting = 0
    /// Positions whose outcome Redis has, from us or from another owner.
    var reported = 0
    /// Positions whose outcome a crash would make unknown: granted or in flight, and Redis does not have it.
    var exposure = 0 {
        didSet { tally.sum += exposure - oldValue }
    }
    /// What workers that were lost had in flight of it.
    private var suspicion: Suspicion?

    var positions: [PushState]
    /// No position before it is open.
    var cursor = 0
    /// The outcomes of positions that were not delivered.
    var outcomes: [Int: ReportedOutcome] = [:]
    var timestamps: [Int: Int64] = [:]
    /// Reports that Redis has taken, to be made again should it forget them.
    var reports: [OutcomeReport] = []
    /// The one that is under way.
    var current: OutcomeReport?
    var segmentInUse = SegmentInUse()
    /// Positions of credit that were asked for; they count as given until Redis has answered.
    var asked = 0 {
        didSet { tally.sum += asked - oldValue }
    }
    private var tally: ExposureTally
    let faults: FaultInjection<DeliveryFault>
    /// It was released: this worker holds it no more.
    private(set) var isReleased = false
    /// It is on the list of those to report soon.
    var isDirty = false
    /// A report is under way.
    var isReporting = false
    /// None of its pushes may be sent for now: its shard was withdrawn.
    var isHalted = false
    /// Redis may have gone back in time: nothing is sent before the next report has brought its map.
    var mustCompare = false {
        didSet { if mustCompare != oldValue { updateRoute() } }
    }

    /// - Parameter map: one byte a position, "." where it is open.
    init(
        number: UInt32, id: BatchID, shard: Int, lane: Lane, delivery: Int, granted: Int,
        suspicion: Suspicion?, map: [UInt8], batch: Batch, tally: ExposureTally = ExposureTally(),
        route: ShardRoute = ShardRoute(), faults: FaultInjection<DeliveryFault> = FaultInjection()
    ) {
        (self.tally, self.route, self.faults) = (tally, route, faults)
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
        exposure = positions[..<self.granted].count { $0 == .open }
        tally.sum += exposure
        route.join(self)
    }

    /// It is released: what happens to it concerns the tally no more.
    func leaveTally() {
        guard !faults.has(.leavesExposure) else { return }
        tally.sum -= exposure + asked
        tally = ExposureTally()
    }

    /// It is released: nothing of it is in flight.
    func leaveRoute() {
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

    /// The devices that it has pushes to, as ``device(of:)`` identifies them; computed when first needed.
    private(set) lazy var devices: Set<UInt64> = {
        var devices = Set<UInt64>(minimumCapacity: count)
        for position in 0..<count { devices.insert(device(of: position)) }
        return devices
    }()

    /// No device has two pushes in it: they may leave over several connections at a time.
    var isOfDistinctDevices: Bool { devices.count == count }

    /// Pushes that may be sent now, at most: some of them may have an outcome.
    var sendable: Int { max(0, min(granted, count) - cursor) }

    var count: Int { positions.count }
    /// Nothing is left to send or to await.
    var isComplete: Bool { reported + reporting + unreported == count }
    /// Nothing of it is in flight, unreported, or being said to Redis.
    var isIdle: Bool {
        (inFlight == 0 || faults.has(.releasesInFlight)) && unreported == 0 && !isReporting
    }
    /// The outcomes of some of its pushes are known.
    var knowsOutcomes: Bool {
        !reports.isEmpty || positions.contains { $0 == .reportedDelivered || $0 == .reportedOther }
    }
    /// Open positions within the credit may be sent.
    var maySend: Bool {
        (ownership == .ours || faults.has(.sendsStale)) && !isHalted
            && (!mustCompare || faults.has(.sendsUncompared))
    }
    /// A worker that was lost held it, and what may have been the cause is still open: nothing else of this worker may be in flight.
    package var isSuspect: Bool { suspicion?.isAlone == true && hasSuspects }
    private var hasSuspects: Bool { suspicion?.hasSuspects(among: positions) ?? false }

    /// How far the credit should go: as far as there is `room`, but within the suspects a group at a time.
    ///
    /// What is in flight beyond the credit, because Redis has forgotten some of it, is asked for in any case.
    func wanted(room: Int) -> Int {
        let sent = granted < cursor && inFlight > 0 ? (positions.lastIndex(of: .inFlight) ?? 0) + 1 : 0
        let least = max(granted, sent)
        if let suspicion, isSuspect {
            if inFlight > 0 { return least }
            if let end = suspicion.groupEnd(in: positions, granted: granted) { return max(least, end) }
        }
        return min(count, max(least, granted + room + (faults.has(.asksForMore) ? 7 : 0)))
    }

    /// How far Redis has granted, which may be less than we had.
    func setGranted(_ position: Int) { granted = min(max(0, position), count) }

    func grant(upTo position: Int) {
        let limit = min(faults.has(.grantsMore) ? position + 1 : position, count)
        guard limit > granted else { return }
        exposure += positions[granted..<limit].count { $0 == .open }
        granted = limit
    }

    // MARK: Standing

    /// Another worker owns it now: nothing more is sent, and only outcomes that hold for any owner are reported.
    func becomeStale() {
        guard ownership != .ended else { return }
        ownership = .stale
        for (position, outcome) in outcomes where positions[position] == .other && !outcome.isFinal {
            markReported(position)
        }
        recount()
    }

    /// Redis has released it.
    func end() {
        guard !faults.has(.neverEnds) else { return }
        ownership = .ended
        for position in positions.indices where positions[position].isUnreported { markReported(position) }
        recount()
    }

    /// Nothing more is sent, whether the call that gives it back succeeds or not.
    func goBack() {
        if !faults.has(.sendsGoingBack) { ownership = .goingBack }
    }

    /// Something is to be reported before it can go back: Redis went back in time after everything was reported.
    var mustReportFirst: Bool { ownership == .goingBack && (mustCompare || unreported > 0) }

    /// Redis has assigned it to this worker once more: known outcomes stay known.
    func redeliver(_ given: Checkout.Batch) {
        ownership = .ours
        (delivery, suspicion) = (given.delivery, given.suspicion)
        isHalted = false
        reconcile(given.map, granted: given.granted)
        injectRedeliveryFault()
    }

    /// The outcome of a position needs no report: Redis has it, or does not want it.
    func markReported(_ position: Int) {
        positions[position] = positions[position] == .delivered ? .reportedDelivered : .reportedOther
        unreported -= 1
        reported += 1
    }

    /// Sums the exposure up again.
    func recount() {
        exposure = positions.indices.count { isExposed($0) }
    }

    func isExposed(_ position: Int) -> Bool {
        let state = positions[position]
        return state == .open ? position < granted && ownership == .ours : !state.isReported
    }
}
