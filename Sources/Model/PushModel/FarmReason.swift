/// The farm's own reasons for a failed push; every other reason is the gateway's word.
package enum FarmReason: String, CaseIterable, Hashable, Sendable {
    /// Sent, the outcome is unknown, and the job asked for at most once.
    case unknown
    /// All its attempts are used up.
    case exhausted
    /// It ended its worker again and again.
    case poison
    /// Its token is known to be dead.
    case suppressed
    /// The farm's books lost it, and an audit found that out.
    case lost
    /// What was reported about it cannot be read.
    case unreadable
}
