extension FixedWidthInteger {
    /// The whole part of a number, or the type's nearest one; 0 of what is no number.
    @inlinable package init(clamping number: some BinaryFloatingPoint) {
        if let exact = Self(exactly: number.rounded(.towardZero)) {
            self = exact
        } else {
            self = number.isNaN ? 0 : number < 0 ? .min : .max
        }
    }

    /// The sum, or the type's nearest number.
    @inlinable package func adding(saturating other: Self) -> Self {
        let (sum, isBeyond) = addingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .min : .max) : sum
    }

    /// The product, or the type's nearest number.
    @inlinable package func multiplied(saturating other: Self) -> Self {
        let (product, isBeyond) = multipliedReportingOverflow(by: other)
        return isBeyond ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
