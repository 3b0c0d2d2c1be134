/// What a response that is no acceptance means for the push, its app and its connection.
///
/// Reasons are the gateway's own words, kept as they came; an answer without one is named by its status
/// ("HTTP404").
package enum Verdict: Hashable, Sendable {
    /// No push to this token can succeed. `timestamp` is when the gateway found it invalid, in milliseconds since
    /// 1970: if the app has registered it since, it may be valid.
    case tokenInvalid(reason: String, timestamp: Int64?)
    /// This push can never be accepted; its token is fine.
    case requestWrong(reason: String)
    /// The app or its topic is set up wrongly.
    case configurationWrong(reason: String)
    /// The gateway refuses the app's credentials.
    case credentialsWrong(reason: String)
    /// Another provider token on another connection may be accepted.
    case credentialsStale(reason: String)
    /// Provider tokens were renewed too often: use the older one, later.
    case authenticationSlow(reason: String)
    /// Too much was sent to this one token: again, later.
    case throttled(reason: String)
    /// The gateway is in trouble, or something on the way to it answered in its place: again, later. `reconnect`: this server is
    /// going away.
    case serverTrouble(reason: String, reconnect: Bool)
    /// A proxy answered in place of the gateway after it may have sent the push on: whether it was accepted is not known.
    /// - Source: RFC 9110, 15.6.3 (502) and 15.6.5 (504).
    case outcomeUnknown(reason: String)
    /// The gateway could not process this push and does not say why: again a few times, then never.
    case processingFailed(reason: String)
    /// The connection is over; the push may go out on another.
    case connectionOver(reason: String)

    /// Judges a response whose status is not 200.
    ///
    /// A known reason decides if its own status is of the same class (4xx, 5xx) as `status`; else the status
    /// alone does. A response that the gateway cannot have sent is trouble of the way to it, such as a proxy's 411, or its 502 with a
    /// page in HTML: it says nothing about the push, but for whether it may have been sent on.
    /// - Parameters:
    ///   - reason: the answer's reason, compared exactly; nil if it had none.
    ///   - timestamp: the answer's timestamp in milliseconds since 1970.
    ///   - isForeign: the body is not what the gateway writes (``AnswerBody/isForeign(_:)``).
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

    /// What the gateway said.
    package var reason: String {
        switch self {
        case .tokenInvalid(let reason, _), .requestWrong(let reason), .configurationWrong(let reason),
            .credentialsWrong(let reason), .credentialsStale(let reason), .authenticationSlow(let reason),
            .throttled(let reason), .serverTrouble(let reason, _), .outcomeUnknown(let reason),
            .processingFailed(let reason), .connectionOver(let reason):
            reason
        }
    }

    /// Whether the gateway had accepted the credentials when it gave this answer.
    package var provesAuthentication: Bool {
        switch self {
        case .tokenInvalid, .requestWrong, .configurationWrong, .throttled, .processingFailed:
            true
        case .credentialsWrong, .credentialsStale, .authenticationSlow, .serverTrouble, .outcomeUnknown,
            .connectionOver:
            false
        }
    }

    /// Whether a proxy that answers with this status may have sent the request on. With 501, 503 and 505 it says that it cannot.
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
        // Only 200 is a delivery. Another success or a wrong request must not be sent again.
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
