import FarmPolicy

/// Batches with outcomes that wait for their report, and when that is due.
struct ReportQueue {
    private var batches: [HeldBatch] = []
    /// In how long the reports are due; nil: there is nothing to do.
    private(set) var delay: Duration?
    /// Redis refused something: before then it is asked for nothing more.
    private var pauseEnd: Instant?

    /// From a first outcome to its report, in which others join it.
    static let interval = Duration.milliseconds(20)
    static let retryInterval = Duration.milliseconds(200)

    /// A batch is to be reported at the latest after this time.
    mutating func add(_ batch: HeldBatch, within time: Duration) {
        delay = min(delay ?? time, time)
        guard !batch.isDirty else { return }
        batch.isDirty = true
        batches.append(batch)
    }

    /// Takes all batches.
    mutating func take() -> [HeldBatch] {
        delay = nil
        let taken = batches
        batches.removeAll(keepingCapacity: true)
        for batch in taken { batch.isDirty = false }
        return taken
    }

    /// A call has failed: it is made again with the next reports.
    mutating func retrySoon() { delay = delay ?? Self.retryInterval }

    /// Redis has not done what it was asked: no more is asked for before a while is over.
    mutating func pause(from now: Instant) {
        pauseEnd = now + Self.retryInterval
        retrySoon()
    }

    mutating func endPause() { pauseEnd = nil }

    /// Whether Redis may be asked for more; if not, the reports are due when it may.
    mutating func mayAsk(at now: Instant) -> Bool {
        guard let pauseEnd, now < pauseEnd else { return true }
        delay = min(delay ?? pauseEnd - now, pauseEnd - now)
        return false
    }
}
