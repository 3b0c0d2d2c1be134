import FarmStore
import PushModel

/// A batch that Redis has put into this worker's hands: which of its positions may be sent, are in the air,
/// are settled, and are known to Redis. Knows no connection and no clock.
///
/// Positions count from 0. A position goes from open to in the air, to settled, to being reported, to handed
/// over; an unprocessed one goes back to open, one whose report failed, or that Redis has forgotten, back to settled.
/// What became of it is kept to the end. Not final only so that tests can break it on purpose.
class HeldBatch {
    enum Standing {
        /// It is ours: its open positions may be sent, and we say what is tried again.
        case ours
        /// We have asked Redis to take it back, and do not know whether it did.
        case goingBack
        /// Another worker owns it. Pushes in flight are awaited; outcomes that hold for any owner are reported.
        case stale
        /// Redis wants to hear nothing more of it. What is in the air is awaited.
        case ended
    }

    let number: UInt32
    let id: BatchID
    let shard: Int
    let lane: Lane
    /// When its jobs were split, in Redis's milliseconds; nil of a batch that was tried before.
    let waitsSince: Int64?
    let batch: Batch
    private(set) var delivery: Int
    private(set) var standing = Standing.ours {
        didSet { if isDoubted { tellRoute() } }
    }
    /// Until here positions may be sent: what Redis has granted.
    private(set) var granted: Int
    /// Positions in the air.
    var inAir = 0 {
        didSet { if !isFree { route.inAir += inAir - oldValue } }
    }
    /// It has no device in common with another batch in hand, and none twice: it may use every connection.
    var isFree = false
    /// Shared with the other batches of its shard and lane.
    let route: ShardRoute
    /// Settled positions that no report carries yet.
    var settled = 0
    /// Positions in the report that is under way.
    var reporting = 0
    /// Positions that Redis has from us, or from another owner.
    var handed = 0
    /// Positions that a crash would put in doubt: granted or on the wire, and Redis does not know the outcome.
    var exposure = 0 {
        didSet { tally.sum += exposure - oldValue }
    }
    /// What workers that were lost had in the air of it.
    private var suspicion: Suspicion?

    var positions: [Position]
    /// No position before it is open.
    var cursor = 0
    /// What became of positions that were not simply delivered.
    var facts: [Int: ReportedOutcome] = [:]
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
    /// It is on the list of those to report soon.
    var isDirty = false
    /// A report is under way.
    var isReporting = false
    /// Nothing of it is to be sent for now: its shard was withdrawn.
    var isHalted = false
    /// Redis may have gone back in time: nothing is sent before the next report has brought its map.
    var isDoubted = false {
        didSet { if isDoubted != oldValue { tellRoute() } }
    }

    /// - Parameter map: one byte a position, "." where it is open.
    required init(
        number: UInt32, id: BatchID, shard: Int, lane: Lane, delivery: Int, granted: Int,
        suspicion: Suspicion?, map: [UInt8], batch: Batch, tally: ExposureTally = ExposureTally(),
        route: ShardRoute = ShardRoute()
    ) {
        (self.tally, self.route) = (tally, route)
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
        handed = positions.count { $0 == .known }
        exposure = positions[..<self.granted].count { $0 == .open }
        tally.sum += exposure
        route.join(self)
    }

    /// It is let go: what happens to it concerns the tally no more.
    func leaveTally() {
        tally.sum -= exposure + asked
        tally = ExposureTally()
    }

    /// It is let go: nothing of it is in the air.
    func leaveRoute() {
        inAir = 0
        route.leave(self)
    }

    private func tellRoute() {
        if isDoubted, standing == .ours {
            route.doubted.insert(number)
        } else {
            route.doubted.remove(number)
        }
    }

    /// The devices that it has pushes to, told apart as far as ``device(of:)`` does; worked out when it is first asked for.
    private(set) lazy var devices: Set<UInt64> = {
        var devices = Set<UInt64>(minimumCapacity: count)
        for position in 0..<count { devices.insert(device(of: position)) }
        return devices
    }()

    /// No device has two pushes in it: they may leave over several connections at a time.
    var isOfDistinctDevices: Bool { devices.count == count }

    /// Pushes that may be sent now, at most: some of them may be settled.
    var sendable: Int { max(0, min(granted, count) - cursor) }

    var count: Int { positions.count }
    /// Nothing is left to send or to await.
    var isSettled: Bool { handed + reporting + settled == count }
    /// Nothing of it is in the air, unreported, or being said to Redis.
    var isQuiet: Bool { inAir == 0 && settled == 0 && !isReporting }
    /// We know what became of some of its pushes.
    var knowsOutcomes: Bool {
        !reports.isEmpty || positions.contains { $0 == .handedDelivered || $0 == .handedOther }
    }
    /// Open positions within the credit may be sent.
    var maySend: Bool { standing == .ours && !isHalted && !isDoubted }
    /// It was in the hands of a worker that was lost, and what may have been the cause is still open: nothing else of
    /// the worker may be in the air.
    var isCareful: Bool { suspicion?.isAlone == true && hasSuspects }
    private var hasSuspects: Bool { suspicion?.hasSuspects(among: positions) ?? false }

    /// How far the credit should go: as far as there is `room`, but within the suspects a group at a time.
    ///
    /// What is on the wire beyond the credit, because Redis has forgotten some of it, is asked for in any case.
    func wanted(room: Int) -> Int {
        let sent = granted < cursor && inAir > 0 ? (positions.lastIndex(of: .inAir) ?? 0) + 1 : 0
        let least = max(granted, sent)
        if let suspicion, isCareful {
            if inAir > 0 { return least }
            if let end = suspicion.groupEnd(in: positions, granted: granted) { return max(least, end) }
        }
        return min(count, max(least, granted + room))
    }

    func grant(upTo position: Int) {
        let limit = min(position, count)
        guard limit > granted else { return }
        exposure += positions[granted..<limit].count { $0 == .open }
        granted = limit
    }

    // MARK: Standing

    /// Another worker owns it now: nothing more is sent, and only outcomes that hold for any owner are reported.
    func becomeStale() {
        guard standing != .ended else { return }
        standing = .stale
        for (position, fact) in facts where positions[position] == .other && !fact.isFinal {
            keep(position)
        }
        recount()
    }

    /// Redis has let go of it.
    func end() {
        standing = .ended
        for position in positions.indices where positions[position].isSettled { keep(position) }
        recount()
    }

    /// Nothing more is sent, whatever becomes of the call that gives it back.
    func goBack() { standing = .goingBack }

    /// There is something to say of it before it can go back: Redis went back in time after all was told.
    var mustReportFirst: Bool { standing == .goingBack && (isDoubted || settled > 0) }

    /// Redis has put it into our hands once more: what we know of it stays known.
    func redeliver(_ given: Checkout.Batch) {
        standing = .ours
        (delivery, suspicion) = (given.delivery, given.suspicion)
        isHalted = false
        reconcile(given.map, granted: given.granted)
    }

    /// Redis shows its map (see the prelude of its scripts), and how far it has granted, which may be less than we had.
    ///
    /// What it has forgotten is settled again, and so reported; what it knows from others is not sent.
    /// - Returns: whether it has forgotten anything.
    @discardableResult
    func reconcile(_ map: [UInt8], granted: Int) -> Bool {
        var hasForgotten = false
        for position in positions.indices where position < map.count {
            let isOpen = map[position] == UInt8(ascii: ".")
            // One that waits with its job may not be sent; what became of it is still to be told.
            let isUntold = isOpen || map[position] == UInt8(ascii: "p")
            switch positions[position] {
            case .open where !isOpen:
                positions[position] = .known
                handed += 1
            case .delivered where !isUntold, .other where !isUntold: keep(position)
            case .handedDelivered where isUntold, .handedOther where isUntold:
                hasForgotten = unhand(position) || hasForgotten
            case .known where isOpen:
                positions[position] = .open
                handed -= 1
                cursor = min(cursor, position)
                hasForgotten = true
            default: continue
            }
        }
        self.granted = min(max(0, granted), count)
        recount()
        return hasForgotten
    }

    /// The outcome of a settled position needs no report: Redis has it, or does not want it.
    func keep(_ position: Int) {
        positions[position] = positions[position] == .delivered ? .handedDelivered : .handedOther
        settled -= 1
        handed += 1
    }

    /// Redis does not know any more what we had told it.
    private func unhand(_ position: Int) -> Bool {
        let isDelivered = positions[position] == .handedDelivered
        if !isDelivered, standing != .ours, facts[position]?.isFinal != true { return false }
        positions[position] = isDelivered ? .delivered : .other
        handed -= 1
        settled += 1
        return true
    }

    /// Sums the exposure up again.
    func recount() {
        exposure = positions.indices.count { isExposed($0) }
    }

    func isExposed(_ position: Int) -> Bool {
        let state = positions[position]
        return state == .open ? position < granted && standing == .ours : !state.isHanded
    }

    /// What another holding of the same batch knew: it need not be sent again.
    func recall(_ past: ReleasedBatch) {
        guard past.positions.count == count else { return }
        facts = past.facts
        timestamps = past.timestamps
        reports = past.reports
        for position in positions.indices {
            let wasDelivered = past.positions[position] == .handedDelivered
            guard wasDelivered || past.positions[position] == .handedOther else { continue }
            switch positions[position] {
            case .known: positions[position] = wasDelivered ? .handedDelivered : .handedOther
            case .open:
                positions[position] = wasDelivered ? .delivered : .other
                settled += 1
            default: continue
            }
        }
        recount()
    }
}
