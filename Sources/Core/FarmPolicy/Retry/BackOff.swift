/// How long to wait before something that keeps failing is tried again: doubling, and a part of it random.
package struct BackOff: Hashable, Sendable {
    package let first: Duration
    package let longest: Duration
    /// The part that is random, 0...1.
    package let jitter: Double
    /// Failures in a row so far.
    package private(set) var failures = 0

    /// The defaults are those for connections to a gateway.
    package init(first: Duration = .seconds(1), longest: Duration = .seconds(60), jitter: Double = 0.5) {
        self.first = first
        self.longest = longest
        self.jitter = jitter
    }

    /// It failed again.
    ///
    /// - Returns: the delay before the next try.
    package mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
        let delay = Jitter.doubled(first, times: failures, cap: longest)
        failures += 1
        return Jitter.spread(delay, jitter, using: &random)
    }

    /// It worked: the next failure is a first one.
    package mutating func succeeded() { failures = 0 }
}

/// Growing delays with an even spread, so that what failed together does not come back together.
enum Jitter {
    /// `base` doubled `times` times, at most `cap`.
    static func doubled(_ base: Duration, times: Int, cap: Duration) -> Duration {
        var delay = base
        for _ in 0..<max(0, times) {
            guard delay < cap else { break }
            delay *= 2
        }
        return min(delay, cap)
    }

    /// A random part of `delay`, from nothing to all of it, in steps of a microsecond.
    static func part(of delay: Duration, using random: inout some RandomNumberGenerator) -> Duration {
        let microseconds = delay / .microseconds(1)
        guard microseconds >= 1 else { return .zero }
        return .microseconds(Int64.random(in: 0...Int64(clamping: microseconds), using: &random))
    }

    /// `delay`, less a random part of the `share` of it that may be missing.
    static func spread(
        _ delay: Duration, _ share: Double, using random: inout some RandomNumberGenerator
    ) -> Duration {
        delay - delay * share + part(of: delay * share, using: &random)
    }
}
