/// Tells one odd push from an app that is set up wrongly: so many answers in a row say so, with no other
/// between.
package struct ConfigurationStreak: Hashable, Sendable {
    package let limit: Int
    private var count = 0

    package init(limit: Int = 5) { self.limit = limit }

    /// An answer said that the app or its topic is set up wrongly.
    ///
    /// - Returns: whether the app is to be paused.
    package mutating func wrong() -> Bool {
        count += 1
        return count >= limit
    }

    /// Any other answer.
    package mutating func other() { count = 0 }
}
