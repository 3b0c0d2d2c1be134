import PushModel

/// What became of a push, as far as it is not simply "delivered".
enum Fact: Hashable {
    /// For good. `isDead`: the gateway declared the token dead.
    case failed(reason: String, status: UInt16, isDead: Bool)
    /// Nobody knows whether the gateway accepted it, and the job wants it at most once.
    case lostTrack(cause: String)
    /// Its deadline passed before it was sent.
    case expired
    case retry(RetryCause, status: UInt16, reason: String, retryAfterMilliseconds: UInt32)

    /// Whether it is true whoever says it, and whatever happened to the batch meanwhile.
    var isFinal: Bool {
        switch self {
        case .failed, .lostTrack: true
        case .expired, .retry: false
        }
    }
}
