/// Decides when an app's batches are searched for cancelled jobs.
///
/// A new cancellation starts a search at once. One search is not enough, because a worker may return batches later, and
/// batches may reappear after a Redis failover. So more searches follow at growing intervals until the cancelled jobs
/// are finished.
package struct CancelRounds: Sendable {
    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private var pause = first
    private var next: Instant?

    package init() {}

    /// Starts a search, because the set of cancelled jobs has changed.
    package mutating func changed(at now: Instant) { (pause, next) = (Self.first, now) }

    /// - Parameter open: the number of cancelled jobs that are not finished.
    package func isDue(open: Int, at now: Instant) -> Bool { open > 0 && next.map { now >= $0 } ?? true }

    /// Notes the end of a search.
    /// - Parameter isWhole: whether the search covered all batches.
    package mutating func ended(isWhole: Bool, at now: Instant) {
        next = now + (isWhole ? pause : Self.first)
        if isWhole { pause = min(pause * 2, Self.longest) }
    }
}
