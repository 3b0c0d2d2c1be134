package import FarmPolicy
import PushModel
import StoreProtocol

/// A device that got more than its gateway likes gets nothing for a while; the others are not concerned.
package struct DeviceCoolDowns {
    private var coolDown = CoolDown()
    /// The coordinator retries by the same policy.
    private static let policy = RetryPolicy()
    /// The reason that is reported for a delayed push.
    private static let reason = "TooManyRequests"

    package init() {}

    package var isEmpty: Bool { coolDown.isEmpty }

    package mutating func accepted(_ batch: HeldBatch, _ position: Int, at now: Instant) {
        if !coolDown.isEmpty { coolDown.accepted(batch.device(of: position), at: now) }
    }

    /// The gateway refused a push because its device gets too many.
    ///
    /// - Parameters:
    ///   - asked: how long the gateway asked to wait.
    ///   - isSlowed: the gateway wants less of everybody, which is not the device's doing.
    /// - Returns: how long to wait.
    package mutating func throttled(
        _ batch: HeldBatch, _ position: Int, asked: Duration, isSlowed: Bool, at now: Instant
    ) -> Duration {
        guard !isSlowed else { return asked }
        let attempts = Int(batch.batch.segments[batch.segment(of: position)].attempt) + 1
        let wait = coolDown.refused(
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
        guard let wait = coolDown.postpone(batch.device(of: position), isReturned: isReturned, at: now)
        else { return nil }
        // Rounded up, so that the push does not come back too early.
        let milliseconds = (wait + .nanoseconds(999_999)).wholeMilliseconds
        return .retry(
            .coolDown, status: 429, reason: Self.reason,
            retryAfterMilliseconds: UInt32(clamping: milliseconds))
    }
}
