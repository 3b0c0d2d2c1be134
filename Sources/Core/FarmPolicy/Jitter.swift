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
