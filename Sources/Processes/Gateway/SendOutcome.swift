package import APNs

/// The outcome of a push that was sent, and how certain that is. `ReportedOutcome` in Worker explains how outcomes relate.
package enum SendOutcome {
    /// The gateway accepted it.
    case delivered
    /// The gateway responded something else; it did not accept the push.
    case refused(Rejection)
    /// The gateway certainly did not act on it: it may be sent again, which does not count as a retry.
    case unprocessed
    /// It was sent and no response came: it may have been accepted. `cause` says what cut the response off.
    case unknown(cause: String)
}

/// A response that is not an acceptance.
package struct Rejection {
    /// Judged without regard to when the token was registered, which the sender knows.
    package let verdict: Verdict
    package let status: UInt16
    /// Seconds that the gateway asked to wait, if it did.
    package let retryAfter: UInt32?
    /// Of the credentials that the push was sent with.
    package let generation: UInt32
}
