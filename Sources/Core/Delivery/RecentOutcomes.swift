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
    static let age = Duration.seconds(10)
    private let maxCount: Int
    private let maxBytes: Int
    /// Oldest first; numbers ascend.
    private var entries: Deque<(number: UInt64, at: Instant, batch: ReleasedBatch)> = []
    private var numbers: [BatchID: UInt64] = [:]
    private var next: UInt64 = 0
    private(set) var byteCount = 0
    /// Batches to be reported again have numbers below this one.
    private var repeatEnd: UInt64 = 0
    private var repeatNext: UInt64 = 0

    init(maxCount: Int = 4096, maxBytes: Int = 2 << 20) {
        (self.maxCount, self.maxBytes) = (maxCount, maxBytes)
    }

    var count: Int { entries.count }

    /// Keeps the outcomes of a batch that is released now.
    mutating func add(_ batch: HeldBatch, at now: Instant) {
        let past = ReleasedBatch(batch)
        numbers[past.id] = next
        entries.append((next, now, past))
        next += 1
        byteCount += past.byteCount
        drop(at: now)
    }

    /// Drops old batches, and the oldest while there are too many.
    mutating func drop(at now: Instant) {
        while let oldest = entries.first,
            oldest.at + Self.age < now || entries.count > maxCount || byteCount > maxBytes
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

    /// Everything is to be reported again, and counts as if it had just happened.
    mutating func repeatAll(at now: Instant) {
        for index in entries.indices { entries[index].at = now }
        repeatNext = 0
        repeatEnd = next
    }

    var hasRepeats: Bool { max(repeatNext, entries.first?.number ?? next) < repeatEnd }

    /// The next batch to be reported again.
    mutating func nextRepeat() -> ReleasedBatch? {
        guard let first = entries.first?.number else { return nil }
        let number = max(repeatNext, first)
        guard number < repeatEnd else { return nil }
        repeatNext = number + 1
        return entries[Int(number - first)].batch
    }
}
