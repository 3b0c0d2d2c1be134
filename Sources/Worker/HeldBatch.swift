import FarmStore
import Gateway
import PushModel

/// A batch that Redis has put into this worker's hands: which of its positions may be sent, are in the air,
/// are settled, and are known to Redis. Knows no connection and no clock.
///
/// Positions count from 0. A position goes from open to in the air, to settled, to being reported, to handed
/// over; an unprocessed one goes back to open, one whose report failed goes back to settled.
final class HeldBatch {
    enum Position: UInt8 {
        case open, inAir, delivered, other, reportingDelivered, reportingOther, handed
    }

    let number: UInt32
    let id: BatchID
    let shard: Int
    let lane: Lane
    let delivery: Int
    let batch: Batch
    /// Until here positions may be sent: what Redis has granted.
    private(set) var granted: Int
    /// Positions in the air.
    private(set) var inAir = 0
    /// Settled positions that no report carries yet.
    private(set) var settled = 0
    /// Positions in the report that is under way.
    private(set) var reporting = 0
    /// Positions that Redis has from us, or had before.
    private(set) var handed = 0
    /// Granted positions that Redis does not know the outcome of: what a crash would put in doubt.
    private(set) var exposure = 0
    /// Positions before this one were on the wire when a worker crashed: they are sent one at a time.
    private let suspect: Int
    private let hasCrashed: Bool

    private var positions: [Position]
    private var cursor = 0
    private var returned: [Int] = []
    private var facts: [Int: Fact] = [:]
    private var timestamps: [Int: Int64] = [:]
    private var heads: [PushHead?]
    private var jobs: [PushID.Job?]
    /// Positions of credit that a call under way asks for; they count as given until it is answered.
    var asked = 0
    /// It is on the list of those to report soon.
    var isDirty = false
    /// A report is under way.
    private(set) var isReporting = false

    /// - Parameter map: one byte a position, "." where it is open.
    init(
        number: UInt32, id: BatchID, shard: Int, lane: Lane, delivery: Int, granted: Int, suspect: Int,
        hasCrashed: Bool, map: [UInt8], batch: Batch
    ) {
        self.number = number
        self.id = id
        self.shard = shard
        self.lane = lane
        self.delivery = delivery
        self.granted = granted
        self.suspect = suspect
        self.hasCrashed = hasCrashed
        self.batch = batch
        positions = map.map { $0 == UInt8(ascii: ".") ? .open : .handed }
        handed = positions.count { $0 == .handed }
        exposure = positions[..<min(granted, positions.count)].count { $0 == .open }
        heads = Array(repeating: nil, count: batch.segments.count)
        jobs = Array(repeating: nil, count: batch.segments.count)
    }

    var count: Int { positions.count }
    /// Nothing is left to send or to await.
    var isSettled: Bool { handed + reporting + settled == count }
    /// It was in a worker's hands that crashed, and what may have been the cause is still open.
    var isCareful: Bool {
        guard hasCrashed, let first = firstOpen else { return false }
        return first < suspect
    }
    private var firstOpen: Int? { positions.firstIndex { $0 != .handed } }

    /// How far the credit should go: one position further when careful, else as far as there is `room`.
    func wanted(room: Int) -> Int {
        if isCareful {
            guard inAir == 0, let first = positions.firstIndex(of: .open) else { return granted }
            return max(granted, first + 1)
        }
        return min(count, max(granted, granted + room))
    }

    func grant(upTo position: Int) {
        let limit = min(position, count)
        guard limit > granted else { return }
        exposure += positions[granted..<limit].count { $0 != .handed }
        granted = limit
    }

    // MARK: Sending

    /// The next position to send, which then is in the air; `nil` when there is none within the credit.
    func next() -> Int? {
        if let again = returned.popLast() { return take(again) }
        let end = min(granted, count)
        while cursor < end {
            defer { cursor += 1 }
            if positions[cursor] == .open { return take(cursor) }
        }
        return nil
    }

    var hasNext: Bool {
        if !returned.isEmpty { return true }
        while cursor < min(granted, count), positions[cursor] != .open { cursor += 1 }
        return cursor < min(granted, count)
    }

    /// A position that certainly was not processed may be sent again.
    func giveBack(_ position: Int) {
        precondition(positions[position] == .inAir, "position \(position) given back in \(positions[position])")
        positions[position] = .open
        inAir -= 1
        returned.append(position)
    }

    func segment(of position: Int) -> Int { Int(batch.pushes[position].segment) }

    func head(of segment: Int, appTopic: String) -> PushHead {
        if let head = heads[segment] { return head }
        let head = PushHead(batch.segments[segment].options, appTopic: appTopic)
        heads[segment] = head
        return head
    }

    func pushID(of position: Int, token: UnsafeRawBufferPointer) -> PushID {
        let segment = segment(of: position)
        if let job = jobs[segment] { return job.pushID(token: token) }
        let job = batch.bytes.withUnsafeBytes { bytes in
            PushID.Job(id: UnsafeRawBufferPointer(rebasing: bytes[batch.segments[segment].jobID]))
        }
        jobs[segment] = job
        return job.pushID(token: token)
    }

    // MARK: Settling

    func delivered(_ position: Int) {
        precondition(positions[position] == .inAir, "position \(position) delivered in \(positions[position])")
        positions[position] = .delivered
        inAir -= 1
        settled += 1
    }

    /// - Parameter timestamp: milliseconds since 1970 when the gateway found the token dead.
    func settle(_ position: Int, _ fact: Fact, timestamp: Int64? = nil) {
        precondition(positions[position] == .inAir, "position \(position) settled in \(positions[position])")
        positions[position] = .other
        facts[position] = fact
        timestamps[position] = timestamp
        inAir -= 1
        settled += 1
    }

    // MARK: Reporting

    /// Puts the settled positions into a report.
    ///
    /// - Returns: their runs, the results entry, and whether it holds only what is true whoever says it; `nil` when
    ///   nothing is settled or a report is under way.
    func beginReport(
        _ builder: inout ResultsBuilder
    ) -> (runs: PositionRuns, entry: [UInt8], areFacts: Bool)? {
        guard !isReporting, settled > 0 else { return nil }
        var areFacts = true
        let runs = takeRuns()
        for (index, segment) in batch.segments.enumerated() {
            appendDelivered(segment, to: &builder)
            appendOthers(index, segment, to: &builder, &areFacts)
        }
        isReporting = true
        (reporting, settled) = (settled, 0)
        guard let entry = builder.finish() else { preconditionFailure("a report without results") }
        return (runs, entry, areFacts)
    }

    /// Something else of the batch is under way, such as a request for credit.
    func beginAsking() { isReporting = true }

    /// Redis has the report.
    func reportAccepted() {
        isReporting = false
        for position in positions.indices {
            guard positions[position] == .reportingDelivered || positions[position] == .reportingOther else {
                continue
            }
            hand(position)
        }
        reporting = 0
    }

    /// Redis has not got the report, or nobody knows: its positions are settled again.
    func reportFailed() {
        isReporting = false
        for position in positions.indices {
            switch positions[position] {
            case .reportingDelivered: positions[position] = .delivered
            case .reportingOther: positions[position] = .other
            default: continue
            }
        }
        (reporting, settled) = (0, settled + reporting)
    }

    /// Redis knew some positions already: these are handed over, the others are still to be reported.
    func reportRefused(map: [UInt8]) {
        reportFailed()
        for position in positions.indices where position < map.count && map[position] != UInt8(ascii: ".") {
            guard positions[position] == .delivered || positions[position] == .other else { continue }
            hand(position)
            settled -= 1
        }
    }

    /// Forgets what only the batch's holder may say; what is left is true whoever says it.
    func keepFinalFactsOnly() {
        for (position, fact) in facts where positions[position] == .other && !fact.isFinal {
            hand(position)
            settled -= 1
        }
    }

    private func hand(_ position: Int) {
        positions[position] = .handed
        facts[position] = nil
        timestamps[position] = nil
        handed += 1
        if position < granted { exposure -= 1 }
    }

    private func take(_ position: Int) -> Int {
        positions[position] = .inAir
        inAir += 1
        return position
    }

    private func takeRuns() -> PositionRuns {
        var runs = PositionRuns()
        var first: Int?
        func end(_ position: Int) {
            if let start = first { runs.append(start..<position) }
            first = nil
        }
        for position in positions.indices {
            switch positions[position] {
            case .delivered: positions[position] = .reportingDelivered
            case .other: positions[position] = .reportingOther
            default:
                end(position)
                continue
            }
            if first == nil { first = position }
        }
        end(count)
        return runs
    }

    private func appendDelivered(_ segment: Batch.Segment, to builder: inout ResultsBuilder) {
        batch.bytes.withUnsafeBytes { bytes in
            var hasBegun = false
            for position in segment.pushes where positions[position] == .reportingDelivered {
                if !hasBegun {
                    builder.beginDelivered(
                        jobID: UnsafeRawBufferPointer(rebasing: bytes[segment.jobID]),
                        receipts: segment.options.receipts)
                    hasBegun = true
                }
                builder.append(token: UnsafeRawBufferPointer(rebasing: bytes[batch.pushes[position].token]))
            }
        }
    }

    private func appendOthers(
        _ index: Int, _ segment: Batch.Segment, to builder: inout ResultsBuilder, _ areFacts: inout Bool
    ) {
        guard !facts.isEmpty else { return }
        var groups: [Fact: [Int]] = [:]
        for position in segment.pushes where positions[position] == .reportingOther {
            if let fact = facts[position] { groups[fact, default: []].append(position) }
        }
        for (fact, members) in groups {
            areFacts = areFacts && fact.isFinal
            append(fact, members, of: segment, index, to: &builder)
        }
    }

    private func append(
        _ fact: Fact, _ members: [Int], of segment: Batch.Segment, _ index: Int,
        to builder: inout ResultsBuilder
    ) {
        batch.bytes.withUnsafeBytes { bytes in
            let jobID = UnsafeRawBufferPointer(rebasing: bytes[segment.jobID])
            let receipts = segment.options.receipts
            let cause = batch.text(segment.cause)
            switch fact {
            case .failed(let reason, let status, let isDead):
                builder.beginFailed(
                    jobID: jobID, reason: reason, cause: cause, status: status, isDead: isDead, receipts: receipts)
            case .lostTrack(let why):
                builder.beginFailed(
                    jobID: jobID, reason: FarmReason.unknown.rawValue, cause: why, isUnknown: true,
                    receipts: receipts)
            case .expired: builder.beginExpired(jobID: jobID, cause: cause, receipts: receipts)
            case .retry(let why, let status, let reason, let retryAfter):
                let head = SegmentHead(
                    repeating: segment, jobID: batch.jobID(of: index), attempt: segment.attempt &+ 1, cause: reason)
                builder.beginRetry(
                    head, payload: UnsafeRawBufferPointer(rebasing: bytes[segment.payload]), why: why,
                    status: status, reason: reason, retryAfterMilliseconds: retryAfter)
            }
            for position in members {
                let push = batch.pushes[position]
                let token = UnsafeRawBufferPointer(rebasing: bytes[push.token])
                if case .retry = fact, segment.hasPayloadPerPush {
                    builder.append(token: token, payload: UnsafeRawBufferPointer(rebasing: bytes[push.payload]))
                } else {
                    builder.append(token: token, timestamp: timestamps[position] ?? 0)
                }
            }
        }
    }
}
