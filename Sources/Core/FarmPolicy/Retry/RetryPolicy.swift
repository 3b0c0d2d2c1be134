package import PushModel

/// When a push that was not accepted, and may be later, is tried again.
///
/// The delay doubles with each attempt, half of it fixed and half random.
package struct RetryPolicy: Hashable, Sendable {
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
    package struct Delays: Hashable, Sendable {
        package var first: Duration
        package var longest: Duration

        package init(first: Duration, longest: Duration) {
            self.first = first
            self.longest = longest
        }
    }

    /// After trouble of the gateway and unknown outcomes.
    package var usual = Delays(first: .seconds(1), longest: .seconds(300))
    /// After too many pushes to one token.
    package var throttled = Delays(first: .seconds(30), longest: .seconds(1800))
    /// After too many renewals of the provider token, which may change every 20 minutes.
    package var authenticationSlow = Delays(first: .seconds(60), longest: .seconds(1200))
    /// A push that the gateway could not process is tried again so often.
    package var processingRetries = 3
    /// A gateway that asks for a longer delay than this is not believed.
    package var longestRetryAfter: Duration = .seconds(86_400)

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
        // No attempt was made, and the order among those that wait is the sender's: nothing is left to chance.
        if cause == .coolDown { return wait(retryAfter ?? .zero, deadline: deadline, now: now) }
        guard attempts < maxAttempts else { return .exhausted }
        if cause == .processing, attempts > processingRetries { return .refused }
        let delays = delays(for: cause)
        let full = Jitter.doubled(delays.first, times: attempts - 1, cap: delays.longest)
        let least = max(full / 2, min(retryAfter ?? .zero, longestRetryAfter))
        let delay = least + Jitter.part(of: full / 2, using: &random)
        guard let deadline else { return .retry(after: delay) }
        let latest = Duration.seconds(deadline) - .seconds(now) - .seconds(1)
        return latest < least ? .expired : .retry(after: min(delay, latest))
    }

    private func wait(_ time: Duration, deadline: Int64?, now: Int64) -> Decision {
        let time = min(time, longestRetryAfter)
        guard let deadline else { return .retry(after: time) }
        return .seconds(deadline) - .seconds(now) - .seconds(1) < time ? .expired : .retry(after: time)
    }

    /// Between which and which delay a push is tried again after so many attempts, unless the gateway asked for more.
    package func range(for cause: RetryCause, attempts: Int) -> ClosedRange<Duration> {
        let delays = delays(for: cause)
        let full = Jitter.doubled(delays.first, times: attempts - 1, cap: delays.longest)
        return full / 2...full
    }

    private func delays(for cause: RetryCause) -> Delays {
        switch cause {
        case .throttled, .coolDown: throttled
        case .server, .unknownOutcome, .processing: usual
        case .authSlow: authenticationSlow
        }
    }
}
