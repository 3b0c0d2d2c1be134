import PushModel

@testable import FarmStore

/// A batch in a worker's hands.
final class SimulatedBatch {
    let id: BatchID
    let batch: Batch
    private(set) var delivery: Int
    private(set) var caution: Caution?
    private(set) var granted: Int
    /// What Redis knows, as far as the worker knows.
    var map: [UInt8]
    /// What the gateway said, or the lack of an answer means. Kept until the batch is forgotten.
    var answers: [Int: SimulatedGateway.Answer] = [:]
    /// It is being put back: nothing of it may be sent any more.
    var isGoingBack = false

    init(_ given: Checkout.Batch) throws {
        (id, delivery, granted) = (given.id, given.delivery, given.granted)
        (map, caution) = (given.map, given.caution)
        batch = try Batch(decoding: given.body)
    }

    /// It was given again: a reply was lost, or Redis forgot that it gave it.
    func renew(_ given: Checkout.Batch) {
        (delivery, granted) = (given.delivery, given.granted)
        (map, caution, isGoingBack) = (given.map, given.caution, false)
    }

    func isOpen(_ position: Int) -> Bool { map[position] == UInt8(ascii: ".") }
    var open: Int { map.count { $0 == UInt8(ascii: ".") } }
    var hasUnreported: Bool { answers.keys.contains(where: isOpen) }
    var next: Int? {
        isGoingBack ? nil : (0..<min(granted, map.count)).first { isOpen($0) && answers[$0] == nil }
    }

    /// It was in a worker's hands that crashed, and what may have been the cause is still open: nothing else of the worker
    /// may be in the air.
    var isCareful: Bool { caution?.isAlone == true && hasSuspects }
    private var hasSuspects: Bool {
        guard let caution, let first = map.firstIndex(of: UInt8(ascii: ".")) else { return false }
        return first < caution.suspect
    }

    /// Granted, and Redis does not know what became of it.
    var exposure: Int { (0..<min(granted, map.count)).count(where: isOpen) }

    /// How far the credit should go, as a worker asks for it: within the suspects a group at a time.
    func wanted(room: Int) -> Int {
        let all = min(map.count, granted + room)
        guard let caution, hasSuspects else { return max(granted, all) }
        var (left, end) = (caution.group, Int?.none)
        for position in map.indices.prefix(caution.suspect) where isOpen(position) && answers[position] == nil
        {
            // What was granted and is still to be sent goes first.
            if caution.isAlone, position < granted { return granted }
            end = position + 1
            left -= 1
            if left == 0 { break }
        }
        guard let end else { return max(granted, all) }
        return max(granted, caution.isAlone ? end : min(end, all))
    }

    func grant(_ position: Int) { granted = max(granted, min(position, map.count)) }

    /// Positions that Redis has.
    func hand(_ positions: [Int]) {
        for position in positions { map[position] = UInt8(ascii: "x") }
    }

    /// Redis may have forgotten what it was told.
    func doubtReports() {
        for position in answers.keys { map[position] = UInt8(ascii: ".") }
    }

    func token(_ position: Int) -> [UInt8] { Array(batch.bytes[batch.pushes[position].token]) }
    func segment(_ position: Int) -> Batch.Segment { batch.segments[Int(batch.pushes[position].segment)] }
    var jobs: [String] { batch.segments.indices.map { batch.jobID(of: $0) } }

    /// An entry with one item a position: the gatherer must not depend on how they are grouped.
    func entry(_ positions: [Int]) -> [UInt8] {
        var builder = ResultsBuilder()
        for position in positions {
            let segment = segment(position)
            let isOnce = segment.options.delivery == .atMostOnce
            batch.bytes.withUnsafeBytes { raw in
                let job = UnsafeRawBufferPointer(rebasing: raw[segment.jobID])
                switch answers[position]! {
                case .delivered: builder.beginDelivered(jobID: job, receipts: .failures)
                case .failed:
                    builder.beginFailed(
                        jobID: job, reason: "BadDeviceToken", status: 400, isDead: true, receipts: .failures)
                case .expired: builder.beginExpired(jobID: job, receipts: .none)
                case .unknown where isOnce:
                    builder.beginFailed(jobID: job, reason: "unknown", isUnknown: true, receipts: .failures)
                case .throttled, .unknown:
                    let head = SegmentHead(
                        repeating: segment, jobID: batch.jobID(of: Int(batch.pushes[position].segment)),
                        attempt: segment.attempt + 1, cause: "")
                    builder.beginRetry(
                        head, payload: UnsafeRawBufferPointer(rebasing: raw[segment.payload]),
                        why: answers[position] == .unknown ? .unknownOutcome : .throttled)
                }
                builder.append(token: UnsafeRawBufferPointer(rebasing: raw[batch.pushes[position].token]))
            }
        }
        return builder.finish() ?? []
    }
}
