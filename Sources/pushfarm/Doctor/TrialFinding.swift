import APNs
import FarmConfiguration

/// What the response to a ``TrialPush`` means for an app's configuration, and what to do about it.
struct TrialFinding {
    let app: AppConfiguration

    private var name: String { "\(app.name) live" }

    /// The credentials in words.
    private var who: String {
        switch app.credentials {
        case .key(_, let id, let team): "key \(id) of team \(team)"
        case .certificate: "the certificate"
        }
    }

    func finding(_ outcome: TrialPush.Outcome) -> Finding {
        switch outcome {
        case .accepted: good
        case .none(let cause):
            Finding(
                name, .unreachable, "no response to a test push: \(cause)",
                advice: "Try again; look at the network and at a proxy on the way.")
        case .refused(let status, let reason): finding(status: status, reason: reason)
        }
    }

    /// The gateway has refused these credentials before, and nothing was sent.
    var refusedBefore: Finding {
        wrongToken("the gateway has refused \(who) already; nothing was sent")
    }

    private var good: Finding {
        Finding(
            name, .ok,
            "the gateway accepts \(who), and does not object to topic \(app.topic); a test push cannot tell whether "
                + "the device tokens are of \(app.environment.rawValue)")
    }

    private func finding(status: UInt16, reason: String) -> Finding {
        switch Reason(rawValue: reason) {
        case .badDeviceToken, .unregistered, .expiredToken: return good
        case .invalidProviderToken, .missingProviderToken, .forbidden:
            return wrongToken("the gateway refuses \(who): \(reason)")
        case .expiredProviderToken:
            return Finding(
                name, .failed, "the gateway finds a new provider token expired: \(reason)",
                advice: "Run NTP on this host and on the host of Redis.")
        case .topicDisallowed, .badTopic, .missingTopic, .deviceTokenNotForTopic:
            return Finding(
                name, .failed, "the gateway refuses topic \(app.topic) for \(who): \(reason)",
                advice:
                    "topic is the app's bundle id: the key's team must own it, a topic-specific key must list it."
            )
        case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken, .badCertificateEnvironment:
            return Finding(
                name, .failed, "\(who) is not valid in environment \(app.environment.rawValue): \(reason)",
                advice: "Change environment, or take a key or certificate of that environment.")
        case .badCertificate:
            return Finding(
                name, .failed, "the gateway refuses \(who): \(reason)",
                advice: "Make a new certificate in Apple's portal.")
        case .tooManyProviderTokenUpdates:
            return Finding(
                name, .warning, "the gateway wants no new provider token now: \(reason)",
                advice: "Try again in 20 minutes.")
        default:
            let words = [status > 0 ? "status \(status)" : nil, reason.isEmpty ? nil : reason].compactMap(
                \.self)
            return Finding(
                name, .unreachable,
                "the gateway's response says nothing of the app: \(words.joined(separator: ", "))",
                advice: "Try again later.")
        }
    }

    private func wrongToken(_ text: String) -> Finding {
        guard case .key(let file, let id, let team) = app.credentials else {
            return Finding(name, .failed, text, advice: "Take the app's own certificate.")
        }
        return Finding(
            name, .failed, text,
            advice:
                "Compare with Apple's portal: team \(team), key id \(id); \(file) must be the key of this id."
        )
    }
}
