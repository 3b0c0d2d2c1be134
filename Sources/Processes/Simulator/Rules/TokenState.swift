package import APNs

/// What a gateway knows of a device token, for a topic.
package enum TokenState: Hashable, Sendable {
    case valid
    /// Not one of this gateway's, or malformed.
    case unknown
    case otherTopic
    case otherEnvironment
    /// Since then, in milliseconds since 1970.
    case unregistered(since: Int64)
    /// Since then, in milliseconds since 1970.
    case expired(since: Int64)
    /// Too many pushes in a row.
    case throttled

    /// Why a push to the token is refused; nil if it is not.
    package var refusal: (reason: Reason, timestamp: Int64?)? {
        switch self {
        case .valid: nil
        case .unknown, .otherEnvironment: (.badDeviceToken, nil)
        case .otherTopic: (.deviceTokenNotForTopic, nil)
        case .unregistered(let since): (.unregistered, since)
        case .expired(let since): (.expiredToken, since)
        case .throttled: (.tooManyRequests, nil)
        }
    }
}
