import DequeModule
import FarmPolicy
import StoreProtocol

/// The outcomes of a batch that this worker has released.
struct ReleasedBatch {
    let id: BatchID
    let delivery: Int
    let positions: [HeldBatch.PushState]
    let outcomes: [Int: UndeliveredResult]
    let timestamps: [Int: Int64]
    /// The reports that Redis accepted. They are repeated if Redis loses its last writes.
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

/// The outcomes of recently released batches. The outcomes are kept for seconds in case Redis loses the reports.
///
/// After a failover, Redis may have lost the reports of the last one or two seconds. This type repeats the reports that Redis may
/// have lost. When a released batch is checked out again, its kept outcomes show which pushes must not be sent again. Age, number
/// and bytes of the kept outcomes are limited. The outcomes of a released batch are kept without a copy.
struct RecentOutcomes {
    private static let age = Duration.seconds(10)
    private static let mostBatches = 4096
    private static let mostBytes = 2 << 20
    private static let mostInFlight = 128
    /// The shortest interval between two comparisons with Redis.
    private static let pause = Duration.seconds(1)

    /// The released batches, oldest first, with ascending numbers.
    private var entries: Deque<(number: UInt64, at: Instant, batch: ReleasedBatch)> = []
    private var numbers: [BatchID: UInt64] = [:]
    private var next: UInt64 = 0
    private var byteCount = 0
    /// Reports must be repeated if their batch has a lower number than this number.
    private var repeatEnd: UInt64 = 0
    private var repeatNext: UInt64 = 0
    /// The number of repeated reports that await a reply from Redis.
    private var inFlight = 0
    private var lastCompared: Instant?

    /// Keeps the outcomes of a batch at its release.
    mutating func add(_ batch: HeldBatch, at now: Instant) {
        let past = ReleasedBatch(batch)
        numbers[past.id] = next
        entries.append((next, now, past))
        next += 1
        byteCount += past.byteCount
        dropOld(at: now)
    }

    /// Drops batches whose reports Redis can no longer lose. If the kept batches exceed the limit of number or bytes, also drops
    /// the oldest batches.
    mutating func dropOld(at now: Instant) {
        while let oldest = entries.first,
            oldest.at + Self.age < now || entries.count > Self.mostBatches || byteCount > Self.mostBytes
        {
            entries.removeFirst()
            byteCount -= oldest.batch.byteCount
            if numbers[oldest.batch.id] == oldest.number { numbers[oldest.batch.id] = nil }
        }
    }

    /// Returns the kept outcomes of a batch.
    subscript(id: BatchID) -> ReleasedBatch? {
        guard let number = numbers[id], let first = entries.first?.number, number >= first else { return nil }
        return entries[Int(number - first)].batch
    }

    /// Returns whether to compare the held batches with Redis now, because Redis may have lost its last writes. Within ``pause``
    /// after a comparison, returns false.
    mutating func beginComparing(at now: Instant) -> Bool {
        if let lastCompared, lastCompared + Self.pause > now { return false }
        lastCompared = now
        return true
    }

    /// Allows a comparison at once, even within ``pause``, because the connection leads to a different Redis.
    mutating func allowComparison() { lastCompared = nil }

    /// Schedules all kept reports for repetition, and restarts their retention time.
    mutating func repeatAll(at now: Instant) {
        for index in entries.indices { entries[index].at = now }
        repeatNext = 0
        repeatEnd = next
    }

    /// Whether no report is being repeated and no report awaits repetition.
    var isIdle: Bool { inFlight == 0 && max(repeatNext, entries.first?.number ?? next) >= repeatEnd }

    /// Returns the reports to repeat now.
    mutating func repeats(worker: String, token: (_ shard: Int) -> FenceToken) -> [Report] {
        var reports: [Report] = []
        while inFlight + reports.count < Self.mostInFlight, let past = nextRepeat() {
            for report in past.reports {
                reports.append(
                    Report(
                        token: token(past.id.shard), worker: worker, batch: past.id, delivery: past.delivery,
                        wanted: 0, hasOnlyFacts: report.hasOnlyFacts, runs: report.runs, entry: report.entry))
            }
        }
        inFlight += reports.count
        return reports
    }

    /// Notes that a repeated report got a reply or failed.
    mutating func repeatEnded() { inFlight -= 1 }

    private mutating func nextRepeat() -> ReleasedBatch? {
        guard let first = entries.first?.number else { return nil }
        let number = max(repeatNext, first)
        guard number < repeatEnd else { return nil }
        repeatNext = number + 1
        return entries[Int(number - first)].batch
    }
}
