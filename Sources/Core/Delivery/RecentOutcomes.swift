import DequeModule
import FarmPolicy
import StoreProtocol

/// What this worker knows of a batch that it has released.
struct ReleasedBatch {
    let id: BatchID
    let delivery: Int
    let positions: [HeldBatch.PushState]
    let outcomes: [Int: ReportedOutcome]
    let timestamps: [Int: Int64]
    /// The reports that Redis took, to be repeated.
    let reports: [OutcomeReport]

    init(_ batch: HeldBatch) {
        (id, delivery) = (batch.id, batch.delivery)
        (positions, outcomes, timestamps) = (batch.positions, batch.outcomes, batch.timestamps)
        reports = batch.reports
    }

    fileprivate var byteCount: Int {
        256 + positions.count + outcomes.count * 96 + reports.reduce(0) { $0 + $1.byteCount }
    }
}

/// The outcomes of batches that were released in the last seconds, in case Redis forgets them.
///
/// A Redis that lost its last second or two comes back without reports that it had taken. They are made again from here;
/// and a batch that is checked out once more finds here which of its pushes need not be sent again. Bounded in time, count
/// and bytes; what it holds it shares with the batch that it was.
struct RecentOutcomes {
    private static let age = Duration.seconds(10)
    private static let mostBatches = 4096
    private static let mostBytes = 2 << 20
    private static let mostInFlight = 128
    /// Redis is compared with once in so long at most.
    private static let pause = Duration.seconds(1)

    /// Oldest first; numbers ascend.
    private var entries: Deque<(number: UInt64, at: Instant, batch: ReleasedBatch)> = []
    private var numbers: [BatchID: UInt64] = [:]
    private var next: UInt64 = 0
    private var byteCount = 0
    /// Batches to be reported again have numbers below this one.
    private var repeatEnd: UInt64 = 0
    private var repeatNext: UInt64 = 0
    /// Repeated reports without an answer yet.
    private var inFlight = 0
    private var lastCompared: Instant?

    /// Keeps the outcomes of a batch that is released now.
    mutating func add(_ batch: HeldBatch, at now: Instant) {
        let past = ReleasedBatch(batch)
        numbers[past.id] = next
        entries.append((next, now, past))
        next += 1
        byteCount += past.byteCount
        dropOld(at: now)
    }

    /// Drops batches whose reports Redis cannot have lost any more, and the oldest while there are too many.
    mutating func dropOld(at now: Instant) {
        while let oldest = entries.first,
            oldest.at + Self.age < now || entries.count > Self.mostBatches || byteCount > Self.mostBytes
        {
            entries.removeFirst()
            byteCount -= oldest.batch.byteCount
            if numbers[oldest.batch.id] == oldest.number { numbers[oldest.batch.id] = nil }
        }
    }

    /// What is known of a batch.
    subscript(id: BatchID) -> ReleasedBatch? {
        guard let number = numbers[id], let first = entries.first?.number, number >= first else { return nil }
        return entries[Int(number - first)].batch
    }

    /// Redis may have gone back in time: whether it is to be compared with now.
    mutating func beginComparing(at now: Instant) -> Bool {
        if let lastCompared, lastCompared + Self.pause > now { return false }
        lastCompared = now
        return true
    }

    /// It is another Redis than before: it is compared with at once.
    mutating func expectOther() { lastCompared = nil }

    /// Everything is to be reported again, and counts as if it had just happened.
    mutating func repeatAll(at now: Instant) {
        for index in entries.indices { entries[index].at = now }
        repeatNext = 0
        repeatEnd = next
    }

    /// No report is being repeated or waits for that.
    var isIdle: Bool { inFlight == 0 && max(repeatNext, entries.first?.number ?? next) >= repeatEnd }

    /// The reports that are to be made now.
    mutating func repeats(worker: String, token: (_ shard: Int) -> FenceToken) -> [Report] {
        var reports: [Report] = []
        while inFlight + reports.count < Self.mostInFlight, let past = nextRepeat() {
            for report in past.reports {
                reports.append(
                    Report(
                        token: token(past.id.shard), worker: worker, batch: past.id, delivery: past.delivery,
                        wanted: 0, isFactsOnly: report.isFinal, runs: report.runs, entry: report.entry))
            }
        }
        inFlight += reports.count
        return reports
    }

    /// Redis has answered a repeated report, or has not.
    mutating func answered() { inFlight -= 1 }

    private mutating func nextRepeat() -> ReleasedBatch? {
        guard let first = entries.first?.number else { return nil }
        let number = max(repeatNext, first)
        guard number < repeatEnd else { return nil }
        repeatNext = number + 1
        return entries[Int(number - first)].batch
    }
}
