/// The Wilson score interval of a probability, from the number of trials and their successes.
///
/// If rewards are fractions, the interval is wider than necessary: a reward in 0...1 varies at most as much as a reward that is
/// 0 or 1 with the same mean.
/// - Source: Wilson, "Probable inference, the law of succession, and statistical inference" (1927).
package struct ScoreInterval: Hashable, Sendable {
    /// The quantile of the standard normal distribution for a confidence of 95 %.
    package static let z95 = 1.959963984540054

    /// In 0...1.
    package let low: Double
    /// In 0...1, at least ``low``.
    package let high: Double

    /// - Parameters:
    ///   - successes: 0...`trials`; other values count as the nearest limit.
    ///   - trials: without trials, the interval is 0...1.
    package init(successes: Double, trials: Int, z: Double = z95) {
        guard trials > 0 else {
            (low, high) = (0, 1)
            return
        }
        let n = Double(trials)
        let p = min(max(0, successes), n) / n
        let center = (p + z * z / (2 * n)) / (1 + z * z / n)
        let half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)).squareRoot()
        low = p == 0 ? 0 : max(0, center - half)
        high = p == 1 ? 1 : min(1, center + half)
    }
}
