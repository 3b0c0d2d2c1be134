package import PushModel

/// When a push that was not accepted, and may be later, is tried again.
///
/// The delay doubles with each attempt, half of it fixed and half random.
package struct RetryPolicy: Sendable {
    package enum Decision: Hashable, Sendable {
        case retry(after: Duration)
        /// As many attempts as the job allows were made.
        case exhausted
        /// As many attempts as this cause is worth were made: the gateway's reason stands.
        case refused
        /// The deadline has passed, or would have before the next attempt could be made.
        case expired
    }

    /// The first delay of a cause, and the greatest.
    package typealias Delays = (first: Duration, longest: Duration)

    /// After trouble of the gateway and unknown outcomes.
    package var usual: Delays = (.seconds(1), .seconds(300))
    /// After too many pushes to one token.
    private static let throttled: Delays = (.seconds(30), .seconds(1800))
    /// After too many renewals of the provider token, which may change every 20 minutes.
    private static let authenticationSlow: Delays = (.seconds(60), .seconds(1200))
    /// A push that the gateway could not process is tried again so often.
    private static let processingRetries = 3
    /// A gateway that asks for a longer delay than this is not believed.
    private static let longestRetryAfter = Duration.seconds(86_400)

    package init() {}

    /// Decides about a push after `attempts` attempts, the last of which ended with `cause`.
    ///
    /// A delay whose random part would pass the deadline is cut to end one second before it.
    /// - Parameters:
    ///   - deadline: seconds since 1970, like `now`; nil: none.
    ///   - retryAfter: the least delay that the gateway asked for.
    package func decide(
        _ cause: RetryCause, attempts: Int, maxAttempts: Int, deadline: Int64?, now: Int64,
        retryAfter: Duration? = nil,
        using random: inout some RandomNumberGenerator
    ) -> Decision {
        if let deadline, now >= deadline { return .expired }
        let asked = min(retryAfter ?? .zero, Self.longestRetryAfter)
        // No attempt was made, and the order among those that wait is the sender's: nothing is left to chance.
        if cause == .coolDown { return wait(asked, deadline: deadline, now: now) }
        guard attempts < maxAttempts else { return .exhausted }
        if cause == .processing, attempts > Self.processingRetries { return .refused }
        let half = range(for: cause, attempts: attempts).lowerBound
        let least = max(half, asked)
        return wait(least, to: least + Jitter.part(of: half, using: &random), deadline: deadline, now: now)
    }

    /// - Parameters:
    ///   - least: when the deadline is nearer, the push expires.
    ///   - time: how long to wait if the deadline allows.
    private func wait(_ least: Duration, to time: Duration? = nil, deadline: Int64?, now: Int64) -> Decision {
        guard let deadline else { return .retry(after: time ?? least) }
        let latest = Duration.seconds(deadline) - .seconds(now) - .seconds(1)
        return latest < least ? .expired : .retry(after: min(time ?? least, latest))
    }

    /// Between which and which delay a push is tried again after so many attempts, unless the gateway asked for more.
    package func range(for cause: RetryCause, attempts: Int) -> ClosedRange<Duration> {
        let delays = delays(for: cause)
        let full = Jitter.doubled(delays.first, times: attempts - 1, cap: delays.longest)
        return full / 2...full
    }

    private func delays(for cause: RetryCause) -> Delays {
        switch cause {
        case .throttled, .coolDown: Self.throttled
        case .server, .unknownOutcome, .processing: usual
        case .authSlow: Self.authenticationSlow
        }
    }
}
