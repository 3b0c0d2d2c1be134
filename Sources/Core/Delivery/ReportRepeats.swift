import FarmPolicy
import StoreProtocol

/// Reports of the last seconds, made once more when Redis may have gone back in time.
struct ReportRepeats {
    private var recent = RecentOutcomes()
    /// Reports without an answer yet.
    private var inFlight = 0
    private var lastCompared: Instant?

    private static let pause = Duration.seconds(1)
    private static let mostInFlight = 128

    /// No report is being repeated or waits for that.
    var isIdle: Bool { inFlight == 0 && !recent.hasRepeats }

    /// What is known of a batch that was released.
    subscript(id: BatchID) -> ReleasedBatch? { recent[id] }

    mutating func add(_ batch: HeldBatch, at now: Instant) { recent.add(batch, at: now) }

    /// Drops reports that Redis cannot have lost any more.
    mutating func dropOld(at now: Instant) { recent.drop(at: now) }

    /// Redis may have gone back in time: it is compared with once a second at most.
    mutating func beginComparing(at now: Instant) -> Bool {
        if let lastCompared, lastCompared + Self.pause > now { return false }
        lastCompared = now
        return true
    }

    /// It is another Redis than before: it is compared with at once.
    mutating func expectOther() { lastCompared = nil }

    /// Every report is to be repeated.
    mutating func repeatAll(at now: Instant) { recent.repeatAll(at: now) }

    /// The reports that are to be made now.
    mutating func next(worker: String, token: (_ shard: Int) -> FenceToken) -> [Report] {
        var reports: [Report] = []
        while inFlight + reports.count < Self.mostInFlight, let past = recent.nextRepeat() {
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

    /// Redis has answered a report, or has not.
    mutating func answered() { inFlight -= 1 }

    /// Forgets all that was released; a fault that tests put in.
    mutating func forgetAll() { recent = RecentOutcomes() }
}
