import APNs
import EventLoop
import FarmConfiguration
import Gateway
import OpenSSL
import PushModel
import Transport

/// One push on its own connection, to a device token that cannot exist. The gateway's response shows whether the
/// gateway accepts the credentials and the topic.
@Loop final class TrialPush: GatewayListener {
    enum Outcome: Equatable {
        case accepted
        case refused(status: UInt16, reason: String)
        /// No response came. The text says why.
        case none(String)
    }

    private static let timeout = Duration.seconds(10)

    private var connection: APNsConnection?
    private var waiting: CheckedContinuation<Outcome, Never>?
    private var isSent = false
    /// The gateway's message when it closed the connection.
    private var note: String?
    private let head: PushHead

    init(topic: String) { head = PushHead(PushOptions(pushType: .background), appTopic: topic) }

    /// - Parameters:
    ///   - stream: an open HTTP/2 connection. The function closes the connection afterwards.
    ///   - authority: the gateway's host, with the port unless it is 443.
    ///   - providerToken: the token, or nil when a client certificate authenticates this process.
    func send(over stream: ByteStream, authority: String, providerToken: [UInt8]?) async -> Outcome {
        let limit = Timer { [unowned self] in finish(.none("no response within 10 s")) }
        limit.start(after: Self.timeout)
        defer { limit.stop() }
        return await withCheckedContinuation { continuation in
            waiting = continuation
            connection = APNsConnection(
                over: stream,
                StreamSettings(
                    authority: authority, providerToken: providerToken, generation: 1,
                    requestTimeout: Self.timeout),
                listener: self)
        }
    }

    /// The prefix by which the simulator recognizes bad tokens, followed by random bytes. No gateway knows a token with
    /// this prefix.
    private static func token() -> [UInt8] { [0xBA, 0xD0, 0, 0] + SecureRandom.bytes(28) }

    private func sendWhenReady() {
        guard !isSent, let connection, connection.room > 0 else { return }
        let token = Self.token()
        let job = PushID.Job(id: "doctor")
        let payload = Array(#"{"aps":{"content-available":1}}"#.utf8)
        isSent = token.withUnsafeBytes { token in
            payload.withUnsafeBytes { payload in
                connection.send(
                    head, token: token, id: job.pushID(token: token), payload: payload,
                    ticket: PushTicket(batch: 0, position: 0), at: .now)
            }
        }
    }

    private func finish(_ outcome: Outcome) {
        waiting?.resume(returning: outcome)
        waiting = nil
        // A connection must not be closed within its own callback, so another task closes it.
        let connection = connection
        self.connection = nil
        Loop.task { connection?.close() }
    }

    // MARK: GatewayListener

    func roomAvailable(on connection: any GatewayConnection) { sendWhenReady() }

    func completed(_ ticket: PushTicket, _ outcome: SendOutcome) {
        switch outcome {
        case .delivered: finish(.accepted)
        case .rejected(let refusal):
            finish(.refused(status: refusal.status, reason: refusal.verdict.reason))
        case .unprocessed:
            finish(note.map { .refused(status: 0, reason: $0) } ?? .none("it was not processed"))
        case .unknown(let cause): finish(note.map { .refused(status: 0, reason: $0) } ?? .none(cause))
        }
    }

    func retired(_ connection: any GatewayConnection, reason: String, verdict: Verdict) {
        note = verdict.reason
        if !isSent { finish(.refused(status: 0, reason: verdict.reason)) }
    }

    func deliveredPushesLost(on connection: any GatewayConnection, count: Int, reason: String) {}

    func ended(_ connection: any GatewayConnection, reason: String) {
        finish(note.map { .refused(status: 0, reason: $0) } ?? .none(reason))
    }
}

/// Turns the response to a ``TrialPush`` into a finding about the app's configuration, with advice.
struct TrialFinding {
    let app: AppConfiguration

    private var name: String { "\(app.name) live" }

    /// A description of the credentials for the text of the finding.
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
                advice: "Try again; check the network and any proxy.")
        case .refused(let status, let reason): finding(status: status, reason: reason)
        }
    }

    /// The finding when the gateway has refused these credentials before. Nothing was sent.
    var refusedBefore: Finding {
        wrongToken("the gateway has already refused \(who); no push was sent")
    }

    private var good: Finding {
        Finding(
            name, .ok,
            "the gateway accepts \(who), and does not object to topic \(app.topic); a test push cannot tell whether "
                + "the device tokens are of \(app.environment.rawValue)")
    }

    private func finding(status: UInt16, reason: String) -> Finding {
        switch Reason(rawValue: reason) {
        case .badDeviceToken, .unregistered, .expiredToken: good
        case .invalidProviderToken, .missingProviderToken, .forbidden:
            wrongToken("the gateway refuses \(who): \(reason)")
        case .expiredProviderToken:
            Finding(
                name, .failed, "the gateway finds a new provider token expired: \(reason)",
                advice: "Run NTP on this host and on the host of Redis.")
        case .topicDisallowed, .badTopic, .missingTopic, .deviceTokenNotForTopic:
            Finding(
                name, .failed, "the gateway refuses topic \(app.topic) for \(who): \(reason)",
                advice:
                    "topic is the app's bundle id: the key's team must own it, a topic-specific key must list it."
            )
        case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken, .badCertificateEnvironment:
            Finding(
                name, .failed, "\(who) is not valid in environment \(app.environment.rawValue): \(reason)",
                advice: "Change environment, or use a key or certificate of that environment.")
        case .badCertificate:
            Finding(
                name, .failed, "the gateway refuses \(who): \(reason)",
                advice: "Create a new certificate in Apple's portal.")
        case .tooManyProviderTokenUpdates:
            Finding(
                name, .warning, "the gateway accepts no new provider token now: \(reason)",
                advice: "Try again in 20 minutes.")
        default:
            Finding(
                name, .unreachable,
                "the gateway's response does not describe the app: "
                    + (status > 0 ? ["status \(status)", reason] : [reason]).filter { !$0.isEmpty }
                    .joined(separator: ", "), advice: "Try again later.")
        }
    }

    private func wrongToken(_ text: String) -> Finding {
        guard case .key(let file, let id, let team) = app.credentials else {
            return Finding(name, .failed, text, advice: "Use the app's own certificate.")
        }
        return Finding(
            name, .failed, text,
            advice:
                "Compare with Apple's portal: team \(team), key id \(id); \(file) must be the key of this id."
        )
    }
}
