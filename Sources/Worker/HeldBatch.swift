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
    var inAir = 0
    /// Settled positions that no report carries yet.
    var settled = 0
    /// Positions in the report that is under way.
    var reporting = 0
    /// Positions that Redis has from us, or had before.
    var handed = 0
    /// Granted positions that Redis does not know the outcome of: what a crash would put in doubt.
    var exposure = 0 {
        didSet { tally.sum += exposure - oldValue }
    }
    /// What workers that were lost had in the air of it.
    private let caution: Caution?

    var positions: [Position]
    /// No position before it is open.
    private var cursor = 0
    var facts: [Int: Fact] = [:]
    var timestamps: [Int: Int64] = [:]
    private var heads: [PushHead?]
    private var jobs: [PushID.Job?]
    /// Positions of credit that a call under way asks for; they count as given until it is answered.
    var asked = 0 {
        didSet { tally.sum += asked - oldValue }
    }
    private var tally: ExposureTally
    /// It is on the list of those to report soon.
    var isDirty = false
    /// A report is under way.
    var isReporting = false

    /// - Parameter map: one byte a position, "." where it is open.
    init(
        number: UInt32, id: BatchID, shard: Int, lane: Lane, delivery: Int, granted: Int,
        caution: Caution?, map: [UInt8], batch: Batch, tally: ExposureTally = ExposureTally()
    ) {
        self.tally = tally
        self.number = number
        self.id = id
        self.shard = shard
        self.lane = lane
        self.delivery = delivery
        self.granted = granted
        self.caution = caution
        self.batch = batch
        positions = map.map { $0 == UInt8(ascii: ".") ? .open : .handed }
        handed = positions.count { $0 == .handed }
        exposure = positions[..<min(granted, positions.count)].count { $0 == .open }
        tally.sum += exposure
        heads = Array(repeating: nil, count: batch.segments.count)
        jobs = Array(repeating: nil, count: batch.segments.count)
    }

    /// It is let go: what happens to it concerns the tally no more.
    func leaveTally() {
        tally.sum -= exposure + asked
        tally = ExposureTally()
    }

    var count: Int { positions.count }
    /// Nothing is left to send or to await.
    var isSettled: Bool { handed + reporting + settled == count }
    /// It was in the hands of a worker that crashed, and what may have been the cause is still open: nothing else of
    /// the worker may be in the air.
    var isCareful: Bool { caution?.isAlone == true && hasSuspects }
    private var hasSuspects: Bool {
        guard let caution, let first = positions.firstIndex(where: { $0 != .handed }) else { return false }
        return first < caution.suspect
    }

    /// How far the credit should go: as far as there is `room`, but within the suspects a group at a time.
    func wanted(room: Int) -> Int {
        guard let caution, hasSuspects else { return min(count, max(granted, granted + room)) }
        if caution.isAlone, inAir > 0 { return granted }
        guard let end = groupEnd(caution) else { return min(count, max(granted, granted + room)) }
        return max(granted, caution.isAlone ? end : min(end, granted + room))
    }

    /// Where the group ends that begins with the first position which is not settled; nil when that is no suspect.
    private func groupEnd(_ caution: Caution) -> Int? {
        var left = caution.group
        var end: Int?
        for position in positions.indices.prefix(caution.suspect) {
            guard positions[position] == .open || positions[position] == .inAir else { continue }
            // What was granted and is still to be sent goes first.
            if caution.isAlone, position < granted { return granted }
            end = position + 1
            left -= 1
            if left == 0 { break }
        }
        return end
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
        guard hasNext else { return nil }
        cursor += 1
        return take(cursor - 1)
    }

    var hasNext: Bool {
        while cursor < min(granted, count), positions[cursor] != .open { cursor += 1 }
        return cursor < min(granted, count)
    }

    /// Settles what may be sent and is past its job's deadline, whether or not there is a connection to send it on.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: how many positions.
    func expire(now: Int64) -> Int {
        var count = 0
        for segment in batch.segments {
            guard let deadline = segment.options.deadline, deadline <= now else { continue }
            for position in segment.pushes where position < granted && positions[position] == .open {
                settle(take(position), .expired)
                count += 1
            }
        }
        return count
    }

    /// A position that certainly was not processed may be sent again, before those behind it.
    func giveBack(_ position: Int) {
        precondition(
            positions[position] == .inAir, "position \(position) given back in \(positions[position])")
        positions[position] = .open
        inAir -= 1
        cursor = min(cursor, position)
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
        precondition(
            positions[position] == .inAir, "position \(position) delivered in \(positions[position])")
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

    private func take(_ position: Int) -> Int {
        positions[position] = .inAir
        inAir += 1
        return position
    }
}
