package import FarmPolicy
import PushModel
import StoreProtocol

/// The devices of batches that cool down.
extension CoolDown {
    /// The coordinator retries by the same policy.
    private static let policy = RetryPolicy()

    /// A push was accepted; to be called unless no device cools.
    package mutating func accepted(_ batch: HeldBatch, _ position: Int, at now: Instant) {
        accepted(batch.device(of: position), at: now)
    }

    /// The gateway refused a push because its device gets too many.
    ///
    /// - Parameter asked: how long the gateway asked to wait.
    /// - Returns: how long to wait.
    package mutating func throttled(
        _ batch: HeldBatch, _ position: Int, asked: Duration, at now: Instant
    ) -> Duration {
        let attempts = Int(batch.batch.segments[batch.segment(of: position)].attempt) + 1
        let wait = refused(
            batch.device(of: position), delays: Self.policy.range(for: .throttled, attempts: attempts),
            asked: asked, at: now)
        return max(asked, wait)
    }

    /// - Returns: the outcome of a push whose device cools; nil if it may be sent.
    package mutating func postpone(
        _ batch: HeldBatch, _ segment: Int, _ position: Int, at now: Instant
    ) -> ReportedOutcome? {
        // It was refused or delayed, or failed otherwise, before.
        let segment = batch.batch.segments[segment]
        let isReturned = segment.attempt > 0 || !segment.cause.isEmpty
        guard let wait = postpone(batch.device(of: position), isReturned: isReturned, at: now)
        else { return nil }
        // Rounded up, so that the push does not come back too early.
        let milliseconds = (wait + .nanoseconds(999_999)).wholeMilliseconds
        return .retry(
            .coolDown, status: 429, reason: "TooManyRequests",
            retryAfterMilliseconds: UInt32(clamping: milliseconds))
    }
}
