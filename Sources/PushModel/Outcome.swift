/// How a push ended. A push without an outcome is open.
package enum Outcome: String, CaseIterable, Hashable, Sendable {
    /// The gateway accepted it.
    case delivered
    /// It will never be accepted; a reason says why.
    case failed
    /// Its deadline passed here.
    case expired
    /// An operator or a producer called it back.
    case cancelled
}
