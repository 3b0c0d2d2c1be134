package import APNs

/// What became of a push that was sent, and how certain that is.
package enum SendOutcome {
    /// The gateway accepted it.
    case delivered
    /// The gateway answered something else; it did not accept the push.
    case refused(Rejection)
    /// The gateway certainly did not act on it: it may go out again, free of charge.
    case unprocessed
    /// It left us and no answer came: it may have been accepted. `cause` says what cut the answer off.
    case unknown(cause: String)
}

/// An answer that is not an acceptance.
package struct Rejection {
    /// Judged without regard to when the token was registered, which the sender knows.
    package let verdict: Verdict
    package let status: UInt16
    /// Seconds that the gateway asked to wait, if it did.
    package let retryAfter: UInt32?
    /// Of the credentials that the push was sent with.
    package let generation: UInt32
}
