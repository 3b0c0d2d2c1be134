import APNs
import EventLoop
import Gateway
import OpenSSL
import PushModel
import Transport

/// One push over a connection of its own, to a device token that cannot exist: what the gateway says of it tells whether
/// it accepts credentials and topic.
@Loop final class TrialPush: GatewayListener {
    enum Outcome: Equatable {
        case accepted
        case refused(status: UInt16, reason: String)
        /// No response came.
        case none(String)
    }

    private static let patience = Duration.seconds(10)

    private var connection: APNsConnection?
    private var waiting: CheckedContinuation<Outcome, Never>?
    private var isSent = false
    /// What the gateway said when it gave the connection up.
    private var note: String?
    private let head: PushHead

    init(topic: String) { head = PushHead(PushOptions(pushType: .background), appTopic: topic) }

    /// - Parameters:
    ///   - stream: connected, with HTTP/2; closed afterwards.
    ///   - authority: the gateway's host, with its port unless that is 443.
    ///   - providerToken: nil when the certificate speaks for us.
    func send(over stream: ByteStream, authority: String, providerToken: [UInt8]?) async -> Outcome {
        let limit = Timer { [unowned self] in answer(.none("no response within 10 s")) }
        limit.start(after: Self.patience)
        defer { limit.stop() }
        return await withCheckedContinuation { continuation in
            waiting = continuation
            connection = APNsConnection(
                over: stream, authority: authority, providerToken: providerToken, generation: 1,
                requestTimeout: Self.patience, listener: self)
        }
    }

    /// The simulator's prefix of bad tokens, and chance: no gateway knows such a device.
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

    private func answer(_ outcome: Outcome) {
        waiting?.resume(returning: outcome)
        waiting = nil
        // Not within its own call.
        let connection = connection
        self.connection = nil
        Loop.task { connection?.close() }
    }

    // MARK: GatewayListener

    func hasRoom(_ connection: any GatewayConnection) { sendWhenReady() }

    func completed(_ ticket: PushTicket, _ fate: SendOutcome) {
        switch fate {
        case .delivered: answer(.accepted)
        case .refused(let refusal):
            answer(.refused(status: refusal.status, reason: refusal.verdict.reason ?? ""))
        case .unprocessed:
            answer(note.map { .refused(status: 0, reason: $0) } ?? .none("it was not processed"))
        case .unknown(let cause): answer(note.map { .refused(status: 0, reason: $0) } ?? .none(cause))
        }
    }

    func isSpent(_ connection: any GatewayConnection, reason: String, verdict: Verdict) {
        note = verdict.reason ?? reason
        if !isSent { answer(.refused(status: 0, reason: note ?? reason)) }
    }

    func wasWrong(_ connection: any GatewayConnection, count: Int, reason: String) {}

    func ended(_ connection: any GatewayConnection, reason: String) {
        answer(note.map { .refused(status: 0, reason: $0) } ?? .none(reason))
    }
}
