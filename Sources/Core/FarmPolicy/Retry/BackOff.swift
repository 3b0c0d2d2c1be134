/// Computes delays before retries. The delay doubles with each failure, and a part of the delay is random.
package struct BackOff: Hashable, Sendable {
    package let first: Duration
    package let longest: Duration
    /// How much of the delay is random: 0 for a fixed delay, 1 for a delay from zero to the full length.
    package let jitter: Double
    /// The number of consecutive failures.
    package private(set) var failures = 0

    /// Creates a backoff; the defaults are for gateway connections.
    package init(first: Duration = .seconds(1), longest: Duration = .seconds(60), jitter: Double = 0.5) {
        self.first = first
        self.longest = longest
        self.jitter = jitter
    }

    /// Notes a failure.
    ///
    /// - Returns: the delay before the next attempt.
    package mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
        let delay = Jitter.doubled(first, times: failures, cap: longest)
        failures += 1
        return Jitter.spread(delay, jitter, using: &random)
    }

    /// Notes a success and resets the number of failures.
    package mutating func succeeded() { failures = 0 }
}

/// Computes growing delays with a random part, so that operations that fail at the same time are not all retried at the
/// same time.
enum Jitter {
    /// Returns `base` doubled `times` times, at most `cap`.
    static func doubled(_ base: Duration, times: Int, cap: Duration) -> Duration {
        var delay = base
        for _ in 0..<max(0, times) {
            guard delay < cap else { break }
            delay *= 2
        }
        return min(delay, cap)
    }

    /// Returns a random part of `delay`, from zero to the whole, in steps of a microsecond.
    static func part(of delay: Duration, using random: inout some RandomNumberGenerator) -> Duration {
        let microseconds = delay / .microseconds(1)
        guard microseconds >= 1 else { return .zero }
        return .microseconds(Int64.random(in: 0...Int64(clamping: microseconds), using: &random))
    }

    /// Returns `delay` minus a random amount. The amount is at most the fraction `share` of `delay`.
    static func spread(
        _ delay: Duration, _ share: Double, using random: inout some RandomNumberGenerator
    ) -> Duration {
        delay - delay * share + part(of: delay * share, using: &random)
    }
}
