extension FixedWidthInteger {
    /// Converts a number without its fraction. A number out of range becomes the type's nearest value; NaN becomes 0.
    @inlinable package init(clamping number: some BinaryFloatingPoint) {
        if let exact = Self(exactly: number.rounded(.towardZero)) {
            self = exact
        } else {
            self = number.isNaN ? 0 : number < 0 ? .min : .max
        }
    }

    /// Returns the sum; on overflow, the type's nearest value.
    @inlinable package func adding(saturating other: Self) -> Self {
        let (sum, isBeyond) = addingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the product; on overflow, the type's nearest value.
    @inlinable package func multiplied(saturating other: Self) -> Self {
        let (product, isBeyond) = multipliedReportingOverflow(by: other)
        return isBeyond ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}

extension Duration {
    /// The longest duration to which a number from outside is converted: 2^48 seconds.
    private static let longestSeconds = Double(WholeNumber.limit)

    /// Converts a number of seconds, limited to ±2^48 seconds; NaN gives zero.
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

    /// The duration in whole milliseconds, rounded down; the nearest `Int64` if it is out of range.
    package var clampedMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multiplied(saturating: 1000).adding(saturating: attoseconds / 1_000_000_000_000_000)
    }
}

extension Collection {
    /// The element at an index; nil if the index is out of range.
    @inlinable package subscript(checked index: Index) -> Element? {
        indices.contains(index) ? self[index] : nil
    }

    /// Returns the first `count` elements: all if there are fewer, none if `count` is negative.
    @inlinable package func prefix(clamping count: Int) -> SubSequence { prefix(Swift.max(0, count)) }
}
