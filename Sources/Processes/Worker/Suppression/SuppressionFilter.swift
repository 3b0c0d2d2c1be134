import APNs
import Delivery
import EventLoop
import Gateway
import PushModel

/// Keeps pushes to suppressed tokens from being sent, and suppresses those that the gateway declares invalid.
@Loop final class SuppressionFilter {
    /// As records and reports have it.
    private struct Scope {
        let number: UInt32
        let text: String
    }

    let tokens: SuppressionLists
    private var topic = ""
    /// Where the gateway belongs, in the words of a ``SuppressionScope``.
    private var environment = ""
    /// A binary gateway knows one topic only, that of the certificate.
    private var hasOneTopic = false
    /// Pushes sent with older credentials may have gone to another topic or environment.
    private var generation: UInt32 = 0
    private var scopes: [String: Scope] = [:]

    private static let mostScopes = 1000
    /// Bytes of a scope that a record can name.
    private static let longestScope = 255

    init(_ tokens: SuppressionLists) { self.tokens = tokens }

    /// - Parameter generation: of the credentials that the app's pushes are sent with from now on.
    func follow(topic: String, environment: String, generation: UInt32) {
        guard (topic, environment) != (self.topic, self.environment) else { return }
        scopes = [:]
        self.generation = generation
        (self.topic, self.environment) = (topic, environment)
    }

    func use(oneTopic: Bool) { hasOneTopic = oneTopic }

    /// Why a push is not sent, and since when its token is invalid, in Unix seconds; nil if it is to be sent.
    func suppression(
        _ batch: HeldBatch, _ segment: Int, token: UnsafeRawBufferPointer, _ list: SuppressionLists.List,
        at seconds: Int64
    ) -> (reason: SuppressionReason, since: Int64)? {
        let options = batch.batch.segments[segment].options
        return list.table.entry(
            token, scope: scope(of: options).number, registeredAt: options.registeredAt, now: seconds)
    }

    /// The producer saw the token registered after the moment at which it became invalid, as a gateway says that names one.
    func wasRegisteredSince(
        _ batch: HeldBatch, _ position: Int, _ rejection: Rejection, _ timestamp: Int64?
    ) -> Bool {
        guard let timestamp,
            let registered = batch.batch.segments[batch.segment(of: position)].options.registeredAt,
            Self.reason(of: rejection)?.yieldsToRegistration == true
        else { return false }
        return Self.isRegistration(atSecond: registered, after: timestamp)
    }

    /// - Parameter timestamp: milliseconds since 1970.
    nonisolated static func isRegistration(atSecond registered: Int64, after timestamp: Int64) -> Bool {
        let (milliseconds, overflow) = registered.multipliedReportingOverflow(by: 1000)
        return overflow ? registered > 0 : timestamp < milliseconds
    }

    /// Suppresses a token that the gateway declared invalid: it counts at once.
    ///
    /// - Parameters:
    ///   - timestamp: milliseconds since 1970 when the gateway found it invalid, if it said so.
    ///   - isPaused: the app is paused.
    /// - Returns: the text of the scope in which it is suppressed; nil if what was sent belongs to another one.
    func suppress(
        _ batch: HeldBatch, _ position: Int, _ rejection: Rejection, timestamp: Int64?, isPaused: Bool,
        at seconds: Int64
    ) -> String? {
        guard rejection.generation >= generation, let reason = Self.reason(of: rejection) else { return nil }
        let push = batch.batch.pushes[position]
        let scope = scope(of: batch.batch.segments[Int(push.segment)].options)
        guard scope.text.utf8.count <= Self.longestScope else { return nil }
        let record = SuppressionRecord(
            reason: reason, scope: scope.number, time: timestamp.map { min($0 / 1000, seconds) } ?? seconds,
            token: batch.batch.bytes[push.token])
        // While the app is paused, Redis refuses records that may come from a wrong environment.
        if !isPaused && !tokens.isHolding || !reason.mayBeEnvironment {
            tokens.note(record, of: batch.shard, at: seconds)
        }
        return scope.text
    }

    private static func reason(of rejection: Rejection) -> SuppressionReason? {
        SuppressionReason(answer: rejection.verdict.reason, status: Int(rejection.status))
    }

    private func scope(of options: PushOptions) -> Scope {
        let wanted = hasOneTopic ? topic : options.topic ?? options.pushType.topic(ofApp: topic)
        if let known = scopes[wanted] { return known }
        if scopes.count >= Self.mostScopes { scopes = [:] }
        let scope = SuppressionScope(environment: environment, topic: wanted)
        let made = Scope(number: scope.number, text: scope.text)
        scopes[wanted] = made
        return made
    }
}
