extension Duration {
    /// Rounded down.
    package var wholeMilliseconds: Int {
        Int(clampedMilliseconds)
    }
}
