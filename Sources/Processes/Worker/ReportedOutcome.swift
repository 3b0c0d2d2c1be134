import PushModel

/// What became of a push, as far as it is not simply "delivered".
enum ReportedOutcome: Hashable {
    /// Permanently, because of the token. `isDead`: the gateway declared it dead; `scope`: where it is to be left out from now on.
    case failed(reason: String, status: UInt16, isDead: Bool, scope: String? = nil)
    /// Permanently, though the token is fine.
    case refused(reason: String, status: UInt16)
    /// Not sent: the token is known to be dead, for this reason.
    case suppressed(cause: String)
    /// The outcome is unknown, and the job wants it at most once.
    case lostTrack(cause: String)
    /// Its deadline passed before it was sent.
    case expired
    case retry(RetryCause, status: UInt16, reason: String, retryAfterMilliseconds: UInt32)

    /// Whether it holds for any owner, and whatever happened to the batch meanwhile.
    var isFinal: Bool {
        switch self {
        case .failed, .refused, .lostTrack: true
        case .suppressed, .expired, .retry: false
        }
    }

    /// Whether it is reported with all that is needed to send the push again.
    var bringsSegment: Bool {
        switch self {
        case .refused, .lostTrack, .retry: true
        case .failed, .suppressed, .expired: false
        }
    }
}
