package import PushModel

/// Decides when a push that failed temporarily is retried.
///
/// The delay doubles with each attempt, up to a limit. One half of the delay is fixed; the other half is replaced by a
/// random part of it.
package struct RetryPolicy: Sendable {
    package enum Decision: Hashable, Sendable {
        case retry(after: Duration)
        /// The push has used all attempts that the job allows.
        case exhausted
        /// The push has used all attempts that the farm allows for this cause, so the push fails with the gateway's reason.
        case refused
        /// The deadline has passed, or would pass before the next attempt.
        case expired
    }

    /// The first and the longest delay of a cause.
    package typealias Delays = (first: Duration, longest: Duration)

    /// The delays after gateway trouble and unknown outcomes.
    package var usual: Delays = (.seconds(1), .seconds(300))
    /// The delays after too many pushes to one token.
    private static let throttled: Delays = (.seconds(30), .seconds(1800))
    /// The delays after too many renewals of the provider token. The gateway accepts one renewal in 20 minutes.
    private static let authenticationSlow: Delays = (.seconds(60), .seconds(1200))
    /// How many times a push is retried after the gateway could not process the push.
    private static let processingRetries = 3
    /// The longest delay that a gateway can request. A longer requested delay is shortened to this.
    private static let longestRetryAfter = Duration.seconds(86_400)

    package init() {}

    /// Decides about a push after `attempts` attempts. The last attempt ended with `cause`.
    ///
    /// If only the random part of the delay would pass the deadline, the delay is shortened, so that it ends one second
    /// before the deadline.
    /// - Parameters:
    ///   - deadline: in seconds since 1970, like `now`; nil means none.
    ///   - retryAfter: the minimum delay that the gateway requested.
    package func decide(
        _ cause: RetryCause, attempts: Int, maxAttempts: Int, deadline: Int64?, now: Int64,
        retryAfter: Duration? = nil,
        using random: inout some RandomNumberGenerator
    ) -> Decision {
        if let deadline, now >= deadline { return .expired }
        let asked = min(retryAfter ?? .zero, Self.longestRetryAfter)
        // The worker did not send the push because its token is in cool-down, so this does not count as an attempt. The
        // worker has chosen the delay so that the pushes to the token stay in order, so no random part is added.
        if cause == .coolDown { return wait(asked, deadline: deadline, now: now) }
        guard attempts < maxAttempts else { return .exhausted }
        if cause == .processing, attempts > Self.processingRetries { return .refused }
        let half = range(for: cause, attempts: attempts).lowerBound
        let least = max(half, asked)
        return wait(least, to: least + Jitter.part(of: half, using: &random), deadline: deadline, now: now)
    }

    /// - Parameters:
    ///   - least: the minimum delay; if the deadline comes earlier, the push expires.
    ///   - time: the preferred delay if the deadline allows it.
    private func wait(_ least: Duration, to time: Duration? = nil, deadline: Int64?, now: Int64) -> Decision {
        guard let deadline else { return .retry(after: time ?? least) }
        let latest = Duration.seconds(deadline) - .seconds(now) - .seconds(1)
        return latest < least ? .expired : .retry(after: min(time ?? least, latest))
    }

    /// Returns the range of the retry delay after this many attempts, unless the gateway requested a longer delay.
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
