/// Notices when a condition has lasted for some time without interruption.
package struct LastingCondition: Sendable {
    private let limit: Duration
    private var since: Instant?

    /// - Parameter limit: how long the condition must last.
    package init(limit: Duration) { self.limit = limit }

    /// Notes whether the condition is present, and returns whether it has lasted for the limit.
    package mutating func note(_ isPresent: Bool, at now: Instant) -> Bool {
        guard isPresent else {
            since = nil
            return false
        }
        let start = since ?? now
        since = start
        return start.duration(to: now) >= limit
    }
}
