package import FarmPolicy

/// Computes when a host's leases are renewed and how long they are valid. The callers read the time and send the requests, so
/// tests can run this type with simulated time.
package struct LeaseRounds {
    package typealias Instant = ContinuousClock.Instant

    /// The time after which a failed renewal is retried.
    static let retryInterval = Duration.milliseconds(500)

    package enum Renewal: Equatable {
        /// Every lease is valid until this time.
        case granted(end: UInt64)
        /// Redis has not confirmed all leases, but the leases have not expired yet.
        case pending
        /// The leases have expired, so this host owns nothing.
        case expired
    }

    package private(set) var sendDeadline = SendDeadline()
    private var nextRenewal: Instant

    package init(now: Instant) { nextRenewal = now }

    /// Whether all leases of all apps must be renewed. Otherwise only apps whose own round is due renew their leases.
    package func isRenewalDue(at now: Instant) -> Bool { now >= nextRenewal }

    package mutating func renewSoon(at now: Instant) { nextRenewal = now }

    /// Records that a renewal of all leases begins.
    package mutating func begin(at now: Instant) { nextRenewal = now + SendDeadline.renewInterval }

    /// Records that the renewal has ended, and returns its result.
    ///
    /// - Parameters:
    ///   - isConfirmed: whether Redis confirmed the leases of every app.
    ///   - start: the time before the first call, on the clock that the host's processes share.
    ///   - end: the present time on the clock that the host's processes share.
    package mutating func ended(isConfirmed: Bool, from start: UInt64, to end: UInt64, at now: Instant)
        -> Renewal
    {
        guard !isConfirmed else {
            sendDeadline.confirmed(from: start)
            return .granted(end: sendDeadline.end)
        }
        nextRenewal = now + Self.retryInterval
        return sendDeadline.mayStart(at: end) ? .pending : .expired
    }

    /// The time to wait before the next round.
    /// - Parameter isPressing: whether an action, such as a release, is due now. If so, the wait is at most `retryInterval`.
    package func pause(isPressing: Bool, at now: Instant) -> Duration {
        let remaining = max(now.duration(to: nextRenewal), .zero)
        return max(min(remaining, isPressing ? Self.retryInterval : .seconds(1)), .milliseconds(1))
    }
}
