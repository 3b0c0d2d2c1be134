import FarmPolicy

/// Batches with unreported outcomes, and the delay until their report is due.
struct ReportQueue {
    private var batches: [HeldBatch] = []
    /// The delay until the reports are due; nil when there is no outcome to report and no call to repeat.
    private(set) var delay: Duration?
    /// The end of a pause in requests for batches and credit after Redis refused a request; nil without a pause.
    private var pauseEnd: Instant?

    /// The time from the first unreported outcome to its report. Outcomes that are recorded within this time join the report.
    static let interval = Duration.milliseconds(20)
    static let retryInterval = Duration.milliseconds(200)

    /// Adds a batch. The report of the batch becomes due after at most `time`.
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

    /// Stops requests for more batches or credit for a while, because Redis refused a request.
    mutating func pause(from now: Instant) {
        pauseEnd = now + Self.retryInterval
        retrySoon()
    }

    mutating func endPause() { pauseEnd = nil }

    /// Returns whether more batches or credit may be requested now. During a pause, the next reports become due when the pause
    /// ends.
    mutating func mayAsk(at now: Instant) -> Bool {
        guard let pauseEnd, now < pauseEnd else { return true }
        delay = min(delay ?? pauseEnd - now, pauseEnd - now)
        return false
    }
}
