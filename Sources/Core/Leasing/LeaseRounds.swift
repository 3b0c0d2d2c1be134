package import FarmPolicy

/// When a host's leases are renewed, and until when they hold. Owns no clock and no connection.
package struct LeaseRounds {
    package typealias Instant = ContinuousClock.Instant

    /// A failed renewal is retried after this time.
    static let retryInterval = Duration.milliseconds(500)

    package enum Renewal: Equatable {
        /// Every lease holds until then.
        case granted(end: UInt64)
        /// Redis has not confirmed everything, and there is time left.
        case pending
        /// Time is up: nothing is ours.
        case expired
    }

    package private(set) var clock = LeaseClock()
    private var nextRenewal: Instant

    package init(now: Instant) { nextRenewal = now }

    /// All leases of all apps are to be renewed; otherwise only those of apps with a reason.
    package func isRenewalDue(at now: Instant) -> Bool { now >= nextRenewal }

    package mutating func renewSoon(at now: Instant) { nextRenewal = now }

    /// A renewal of all leases begins.
    package mutating func begin(at now: Instant) { nextRenewal = now + LeaseClock.renewInterval }

    /// The renewal is over.
    ///
    /// - Parameters:
    ///   - isConfirmed: by Redis, for every app.
    ///   - start: the moment before its first call, on the clock that the host's processes share; `end`: now.
    package mutating func ended(isConfirmed: Bool, from start: UInt64, to end: UInt64, at now: Instant)
        -> Renewal
    {
        guard !isConfirmed else {
            clock.confirmed(from: start)
            return .granted(end: clock.end)
        }
        nextRenewal = now + Self.retryInterval
        return clock.mayStart(at: end) ? .pending : .expired
    }

    /// How long to wait before the next round.
    /// - Parameter isPressing: something that is due has not been done.
    package func pause(isPressing: Bool, at now: Instant) -> Duration {
        let left = max(now.duration(to: nextRenewal), .zero)
        return max(min(left, isPressing ? Self.retryInterval : .seconds(1)), .milliseconds(1))
    }
}
