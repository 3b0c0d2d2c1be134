extension Duration {
    /// The longest time that is made of a foreign number: 2^48 seconds.
    private static let longestSeconds = Double(ForeignNumber.limit)

    /// So many seconds, or the nearest time within 2^48 seconds; none of what is no number.
    package init(clampingSeconds seconds: Double) {
        guard !seconds.isNaN else {
            self = .zero
            return
        }
        let bounded = min(max(seconds, -Self.longestSeconds), Self.longestSeconds)
        let whole = bounded.rounded(.down)
        self =
            .seconds(Int64(clamping: whole))
            + .nanoseconds(Int64(clamping: ((bounded - whole) * 1e9).rounded()))
    }

    /// Rounded down, or the nearest number of them.
    package var clampedMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multiplied(saturating: 1000).adding(saturating: attoseconds / 1_000_000_000_000_000)
    }
}
