extension Collection {
    /// The element there; nil when there is none.
    @inlinable package subscript(checked index: Index) -> Element? {
        indices.contains(index) ? self[index] : nil
    }

    /// The first ones, at most so many; none when that is below zero.
    @inlinable package func prefix(clamping count: Int) -> SubSequence { prefix(Swift.max(0, count)) }
}
