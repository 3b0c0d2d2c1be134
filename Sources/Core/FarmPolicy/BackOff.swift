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
