extension Duration {
    /// Rounded down.
    var wholeMilliseconds: Int {
        Int(clampedMilliseconds)
    }
}
