package import APNs

/// What becomes of pushes to one device token, or to all that start alike.
package enum TokenRule: Hashable, Sendable {
    case state(TokenState)
    /// The gateway's own trouble, for these tokens only.
    case trouble(Reason)
    /// No answer, ever.
    case silent

    /// The words of a token file and of the `token` command.
    ///
    /// - Parameters:
    ///   - since: seconds since 1970, for tokens that are unregistered or expired.
    init?(word: some StringProtocol, since: Int64) {
        // So far from 1970 that milliseconds would overflow.
        guard since.magnitude < 1 << 50 else { return nil }
        switch word {
        case "valid": self = .state(.valid)
        case "bad": self = .state(.unknown)
        case "wrong-topic": self = .state(.otherTopic)
        case "wrong-environment": self = .state(.otherEnvironment)
        case "unregistered": self = .state(.unregistered(since: since * 1000))
        case "expired": self = .state(.expired(since: since * 1000))
        case "throttled": self = .state(.throttled)
        case "error": self = .trouble(.internalServerError)
        case "unavailable": self = .trouble(.serviceUnavailable)
        case "silent": self = .silent
        default: return nil
        }
    }

    static let words = [
        "valid", "bad", "wrong-topic", "wrong-environment", "unregistered", "expired", "throttled", "error",
        "unavailable", "silent",
    ]
}
