package import FarmPolicy
import PushModel
import StoreProtocol

/// Applies cool-downs of devices to the pushes of held batches.
extension CoolDown {
    /// The retry policy for throttled pushes, which the coordinator uses too.
    private static let policy = RetryPolicy()

    /// Notes that the gateway accepted a push. The caller may skip this call while no device is in cool-down.
    package mutating func accepted(_ batch: HeldBatch, _ position: Int, at now: Instant) {
        accepted(batch.device(of: position), at: now)
    }

    /// Notes that the gateway refused a push because its device gets too many pushes.
    ///
    /// - Parameter asked: the delay that the gateway requested.
    /// - Returns: the delay before the next push to the device.
    package mutating func throttled(
        _ batch: HeldBatch, _ position: Int, asked: Duration, at now: Instant
    ) -> Duration {
        let attempts = Int(batch.batch.jobParts[batch.jobPart(of: position)].attempt) + 1
        let wait = refused(
            batch.device(of: position), delays: Self.policy.range(for: .throttled, attempts: attempts),
            asked: asked, at: now)
        return max(asked, wait)
    }

    /// - Returns: the outcome of a push whose device is in cool-down; nil if the push may be sent.
    package mutating func postpone(
        _ batch: HeldBatch, _ jobPart: Int, _ position: Int, at now: Instant
    ) -> UndeliveredResult? {
        // The job part of a push that was sent or delayed before has attempts or a cause.
        let jobPart = batch.batch.jobParts[jobPart]
        let isReturned = jobPart.attempt > 0 || !jobPart.cause.isEmpty
        guard let wait = postpone(batch.device(of: position), isReturned: isReturned, at: now)
        else { return nil }
        // Rounds up, so that the push does not become due too early.
        let milliseconds = (wait + .nanoseconds(999_999)).wholeMilliseconds
        return .retry(
            .coolDown, status: 429, reason: "TooManyRequests",
            retryAfterMilliseconds: UInt32(clamping: milliseconds))
    }
}
