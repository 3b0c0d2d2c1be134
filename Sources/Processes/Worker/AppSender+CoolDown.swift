import APNs
import FarmPolicy
import Gateway
import PushModel

/// A device that got more than its gateway likes is left alone for a while, and nobody else is.
extension AppSender {
    /// What the gatherer goes by, too.
    private static let policy = RetryPolicy()
    /// What is told of a push that was put off.
    private static let reason = "TooManyRequests"

    /// The gateway refused a push because its device gets too many.
    func throttled(_ batch: HeldBatch, _ position: Int, _ refusal: Rejection, _ reason: String) {
        let attempts = Int(batch.batch.segments[batch.segment(of: position)].attempt) + 1
        let asked = Duration.milliseconds(Int64(self.asked(refusal)))
        // While the gateway wants less of everybody, it is not the device's doing.
        let wait =
            governor.rate != nil
            ? asked
            : coolDown.refused(
                batch.device(of: position), delays: Self.policy.range(for: .throttled, attempts: attempts),
                asked: asked, at: .now)
        settle(
            batch, position,
            .retry(
                .throttled, status: refusal.status, reason: reason,
                retryAfterMilliseconds: UInt32(clamping: max(asked, wait).milliseconds)))
    }

    /// Puts a push off whose device cools.
    /// - Returns: whether it did.
    func putOff(_ batch: HeldBatch, _ segment: Int, _ position: Int, at now: ContinuousClock.Instant) -> Bool
    {
        // It was refused, put off or in some other trouble before.
        let segment = batch.batch.segments[segment]
        let isReturned = segment.attempt > 0 || !segment.cause.isEmpty
        guard let wait = coolDown.putOff(batch.device(of: position), isReturned: isReturned, at: now)
        else { return false }
        settle(
            batch, position,
            .retry(
                .cooling, status: 429, reason: Self.reason,
                retryAfterMilliseconds: UInt32(clamping: wait.milliseconds)))
        return true
    }
}
