import APNs
import Delivery
import EventLoop
import Gateway
import PushModel

/// Prevents sending to suppressed tokens, and suppresses tokens that the gateway declares invalid.
@Loop final class SuppressionFilter {
    /// A ``SuppressionScope``: its number, which records contain, and its text, which reports contain.
    private struct Scope {
        let number: UInt32
        let text: String
    }

    let lists: SuppressionLists
    private var topic = ""
    /// The gateway's environment, as a ``SuppressionScope`` names it.
    private var environment = ""
    /// Whether the gateway supports only the topic of the certificate, as a binary gateway does.
    private var hasOneTopic = false
    /// The first generation of credentials with the present topic and environment. Responses to pushes that were sent with older
    /// credentials suppress no token.
    private var generation: UInt32 = 0
    private var scopes: [String: Scope] = [:]

    private static let mostScopes = 1000
    /// The longest scope that a record can contain, in bytes.
    private static let longestScope = 255

    init(_ lists: SuppressionLists) { self.lists = lists }

    /// - Parameter generation: the generation of the credentials for future pushes of the app.
    func apply(topic: String, environment: String, generation: UInt32) {
        guard (topic, environment) != (self.topic, self.environment) else { return }
        scopes = [:]
        self.generation = generation
        (self.topic, self.environment) = (topic, environment)
    }

    func use(oneTopic: Bool) { hasOneTopic = oneTopic }

    /// Returns why a push is suppressed, and since when its token is invalid, in Unix seconds; nil if the
    /// push may be sent.
    func suppression(
        _ batch: HeldBatch, _ jobPart: Int, token: UnsafeRawBufferPointer, _ list: SuppressionLists.List,
        at seconds: Int64
    ) -> (reason: SuppressionReason, since: Int64)? {
        let options = batch.batch.jobParts[jobPart].options
        let entry = list.table.entry(
            token, scope: scope(of: options).number, registeredAt: options.registeredAt, now: seconds)
        guard let entry, !options.isStored || !entry.reason.isKnownToRegistry else { return nil }
        return entry
    }

    /// Returns whether, according to the producer, the token was registered after the gateway found the token
    /// invalid.
    func wasRegisteredSince(
        _ batch: HeldBatch, _ position: Int, _ rejection: Rejection, _ timestamp: Int64?
    ) -> Bool {
        guard let timestamp,
            let registered = batch.batch.jobParts[batch.jobPart(of: position)].options.registeredAt,
            Self.reason(of: rejection)?.yieldsToRegistration == true
        else { return false }
        return Self.isRegistration(atSecond: registered, after: timestamp)
    }

    /// - Parameter timestamp: when the gateway found the token invalid, in milliseconds since 1970.
    nonisolated static func isRegistration(atSecond registered: Int64, after timestamp: Int64) -> Bool {
        let (milliseconds, overflow) = registered.multipliedReportingOverflow(by: 1000)
        return overflow ? registered > 0 : timestamp < milliseconds
    }

    /// Suppresses the token of a push after the gateway has refused the token as invalid.
    ///
    /// - Parameters:
    ///   - timestamp: when the gateway found the token invalid, in milliseconds since 1970; nil if unknown.
    ///   - isPaused: whether the app is paused.
    /// - Returns: the text of the scope in which the token becomes suppressed. Nil if the token is not suppressed: the reason is
    ///   not about the token, the push was sent with older credentials, or the text is too long.
    func suppress(
        _ batch: HeldBatch, _ position: Int, _ rejection: Rejection, timestamp: Int64?, isPaused: Bool,
        at seconds: Int64
    ) -> String? {
        guard rejection.generation >= generation, let reason = Self.reason(of: rejection) else { return nil }
        let push = batch.batch.pushes[position]
        let scope = scope(of: batch.batch.jobParts[Int(push.jobPart)].options)
        guard scope.text.utf8.count <= Self.longestScope else { return nil }
        let record = SuppressionRecord(
            reason: reason, scope: scope.number, time: timestamp.map { min($0 / 1000, seconds) } ?? seconds,
            token: batch.batch.bytes[push.token])
        // A record whose cause may be a wrong environment has no immediate effect in two cases: while the app is paused, because
        // Redis then refuses such records, and while Redis holds such records until they are confirmed.
        if !isPaused && !lists.holdsUnconfirmed || !reason.mayBeEnvironment {
            lists.note(record, of: batch.shard, at: seconds)
        }
        return scope.text
    }

    private static func reason(of rejection: Rejection) -> SuppressionReason? {
        SuppressionReason(response: rejection.verdict.reason, status: Int(rejection.status))
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
