/// The books of one job. At every instant accepted = delivered + failed + expired + cancelled + queued + in flight +
/// waiting.
package struct JobRecord: Equatable, Sendable {
    package enum State: String, Sendable { case open, finished }

    package var id: String
    package var app: String
    package var state: State
    /// Pushes in the job: accepted + malformed + duplicates.
    package var submitted = 0
    package var accepted = 0
    package var malformed = 0
    package var duplicates = 0
    package var delivered = 0
    package var failed = 0
    package var expired = 0
    package var cancelled = 0
    /// In a worker's hands, or reported and not yet booked.
    package var inFlight = 0
    /// For their start or for a retry.
    package var waiting = 0
    /// How many pushes may have been sent twice, at most.
    package var maybeDuplicated = 0
    /// Unix milliseconds of Redis's clock.
    package var createdAt: Int64 = 0
    package var finishedAt: Int64?
    /// When an outcome was booked last, 0 before; not told of one that is finished at once.
    package var lastAt: Int64 = 0
    /// Crashes of workers that were held against the job.
    package var crashes = 0
    /// Why its pushes wait until it is released; nil when they do not.
    package var parked: String?
    /// The job whose pushes it repeats; how many of its own failed ones others repeat.
    package var replayOf: String?
    package var replayed = 0
    /// What looks like a mistake in the job, though it was accepted.
    package var warning: String?
    /// Failures by reason.
    package var reasons: [String: Int] = [:]

    package var queued: Int { accepted - delivered - failed - expired - cancelled - inFlight - waiting }

    package init(id: String, app: String, state: State) {
        (self.id, self.app, self.state) = (id, app, state)
    }
}
