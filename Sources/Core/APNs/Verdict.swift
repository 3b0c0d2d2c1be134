/// What a response that does not accept a push means for the push, the app and the connection.
///
/// `reason` is the reason in the response, unchanged. If the response has no reason, `reason` is made from the status,
/// for example "HTTP404".
package enum Verdict: Hashable, Sendable {
    /// No push to this token can succeed. `timestamp` is when the gateway found the token invalid, in milliseconds
    /// since 1970. If the app registered the token again after `timestamp`, the token may be valid.
    case tokenInvalid(reason: String, timestamp: Int64?)
    /// The push can never be accepted, although its token is valid.
    case requestWrong(reason: String)
    /// The app's configuration is wrong, for example its topic.
    case configurationWrong(reason: String)
    /// The gateway refuses the app's credentials.
    case credentialsWrong(reason: String)
    /// The gateway refuses the provider token on this connection. It may accept a new provider token, or the same
    /// provider token on another connection.
    case credentialsStale(reason: String)
    /// The gateway got a new provider token too soon after the last one. Retry later with the older provider token.
    case authenticationSlow(reason: String)
    /// The gateway got too many pushes for the token. Retry later.
    case throttled(reason: String)
    /// The gateway has trouble, or a proxy responded in place of the gateway. Retry later. `reconnect` is true if the server will
    /// close the connection.
    case serverTrouble(reason: String, reconnect: Bool)
    /// A proxy responded in place of the gateway and may have forwarded the push, so the outcome is unknown.
    /// - Source: RFC 9110, 15.6.3 (502) and 15.6.5 (504).
    case outcomeUnknown(reason: String)
    /// The gateway could not process this push and gives no cause. Retry a few times, then let the push fail.
    case processingFailed(reason: String)
    /// The connection has ended. The push may be sent on another connection.
    case connectionOver(reason: String)

    /// Judges a response whose status is not 200.
    ///
    /// If the reason is known, and APNs sends it with a status of the same class as `status`, 4xx or 5xx, the reason
    /// decides. Otherwise only `status` decides. A response that the gateway cannot have sent, for example with status
    /// 411 or with an HTML page, comes from a proxy between the worker and the gateway. The status of such a response
    /// only shows whether the proxy may have forwarded the push to the gateway.
    /// - Parameters:
    ///   - reason: the reason in the response, compared exactly; nil if absent.
    ///   - timestamp: the timestamp in the response, in milliseconds since 1970.
    ///   - isForeign: whether the body cannot come from the gateway (``ErrorBody/isForeign(_:)``).
    package init(
        status: Int, reason: String? = nil, timestamp: Int64? = nil, isForeign: Bool = false
    ) {
        if reason == nil, isForeign || !Reason.statuses.contains(status), !(200...299).contains(status) {
            let words = "HTTP\(status)"
            self =
                Self.mayHaveBeenSentOn(status)
                ? .outcomeUnknown(reason: words) : .serverTrouble(reason: words, reconnect: false)
            return
        }
        let words = reason ?? "HTTP\(status)"
        if let known = Reason(rawValue: words), known.status / 100 == status / 100 {
            self.init(known: known, words: words, timestamp: timestamp)
        } else {
            self.init(unknown: words, status: status, timestamp: timestamp)
        }
    }

    /// The gateway's reason.
    package var reason: String {
        switch self {
        case .tokenInvalid(let reason, _), .requestWrong(let reason), .configurationWrong(let reason),
            .credentialsWrong(let reason), .credentialsStale(let reason), .authenticationSlow(let reason),
            .throttled(let reason), .serverTrouble(let reason, _), .outcomeUnknown(let reason),
            .processingFailed(let reason), .connectionOver(let reason):
            reason
        }
    }

    /// Whether the response proves that the gateway had accepted the credentials.
    package var provesAuthentication: Bool {
        switch self {
        case .tokenInvalid, .requestWrong, .configurationWrong, .throttled, .processingFailed:
            true
        case .credentialsWrong, .credentialsStale, .authenticationSlow, .serverTrouble, .outcomeUnknown,
            .connectionOver:
            false
        }
    }

    /// Whether a proxy that responds with this status may have forwarded the request. Statuses 501, 503 and 505 mean that the
    /// proxy did not forward the request.
    private static func mayHaveBeenSentOn(_ status: Int) -> Bool {
        (500...599).contains(status) && ![501, 503, 505].contains(status)
    }

    init(known: Reason, words: String, timestamp: Int64?) {
        switch known {
        case .badDeviceToken, .deviceTokenNotForTopic, .unregistered, .expiredToken:
            self = .tokenInvalid(reason: words, timestamp: timestamp)
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders,
            .invalidPushType, .missingDeviceToken, .payloadEmpty, .badPath, .methodNotAllowed,
            .payloadTooLarge:
            self = .requestWrong(reason: words)
        case .badTopic, .missingTopic, .topicDisallowed:
            self = .configurationWrong(reason: words)
        case .badCertificate, .badCertificateEnvironment, .forbidden, .invalidProviderToken,
            .missingProviderToken, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken:
            self = .credentialsWrong(reason: words)
        case .expiredProviderToken, .unrelatedKeyIDInToken:
            self = .credentialsStale(reason: words)
        case .tooManyProviderTokenUpdates:
            self = .authenticationSlow(reason: words)
        case .tooManyRequests:
            self = .throttled(reason: words)
        case .internalServerError, .serviceUnavailable:
            self = .serverTrouble(reason: words, reconnect: false)
        case .shutdown:
            self = .serverTrouble(reason: words, reconnect: true)
        case .idleTimeout:
            self = .connectionOver(reason: words)
        }
    }

    private init(unknown words: String, status: Int, timestamp: Int64?) {
        switch status {
        // Only 200 means delivered. After any other 2xx status or a 4xx status, the push must not be sent again.
        case 200...299, 400...499:
            switch status {
            case 401, 403, 407: self = .credentialsWrong(reason: words)
            case 410: self = .tokenInvalid(reason: words, timestamp: timestamp)
            case 429: self = .throttled(reason: words)
            default: self = .requestWrong(reason: words)
            }
        case 300...399: self = .configurationWrong(reason: words)
        default: self = .serverTrouble(reason: words, reconnect: false)
        }
    }
}
