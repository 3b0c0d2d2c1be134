import FarmPolicy

/// Batches with unreported outcomes, and the delay until their report is due.
struct ReportQueue {
    private var batches: [HeldBatch] = []
    /// The delay until the reports are due; nil when there is nothing to do.
    private(set) var delay: Duration?
    /// The end of a pause after Redis refused a request; no request for more precedes it.
    private var pauseEnd: Instant?

    /// The time from a first outcome to its report. Later outcomes join the report meanwhile.
    static let interval = Duration.milliseconds(20)
    static let retryInterval = Duration.milliseconds(200)

    /// Adds a batch whose report is due at the latest after this time.
    mutating func add(_ batch: HeldBatch, within time: Duration) {
        delay = min(delay ?? time, time)
        guard !batch.isDirty else { return }
        batch.isDirty = true
        batches.append(batch)
    }

    /// Removes and returns all batches.
    mutating func take() -> [HeldBatch] {
        delay = nil
        let taken = batches
        batches.removeAll(keepingCapacity: true)
        for batch in taken { batch.isDirty = false }
        return taken
    }

    /// Schedules a failed call for repetition with the next reports.
    mutating func retrySoon() { delay = delay ?? Self.retryInterval }

    /// Pauses requests for more batches or credit, because Redis refused a request.
    mutating func pause(from now: Instant) {
        pauseEnd = now + Self.retryInterval
        retrySoon()
    }

    mutating func endPause() { pauseEnd = nil }

    /// Returns whether Redis may be asked for more. If not, the next reports become due at the end of the
    /// pause.
    mutating func mayAsk(at now: Instant) -> Bool {
        guard let pauseEnd, now < pauseEnd else { return true }
        delay = min(delay ?? pauseEnd - now, pauseEnd - now)
        return false
    }
}
