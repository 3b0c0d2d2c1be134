/// When an app's batches are searched for cancelled jobs.
///
/// At once when there is something new, and then again, ever less often, while such a job is not finished: what a worker
/// had, or what Redis forgot, may have come back.
package struct CancelRounds: Sendable {
    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private var pause = first
    private var next: Instant?

    package init() {}

    /// Other jobs are cancelled than before.
    package mutating func changed(at now: Instant) { (pause, next) = (Self.first, now) }

    /// - Parameter open: cancelled jobs that are not finished.
    package func isDue(open: Int, at now: Instant) -> Bool { open > 0 && next.map { now >= $0 } ?? true }

    /// A round has ended.
    /// - Parameter isWhole: it came to its end.
    package mutating func ended(isWhole: Bool, at now: Instant) {
        next = now + (isWhole ? pause : Self.first)
        if isWhole { pause = min(pause * 2, Self.longest) }
    }
}
