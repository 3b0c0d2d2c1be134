import APNs
import FarmPolicy

/// Judges from responses whether an app's gateway has trouble, with a circuit breaker, and whether the app's configuration is
/// wrong.
struct GatewayHealth {
    private var breaker = GatewayCircuitBreaker()
    /// The number of consecutive refusals of the app's own topic.
    private var topicRefusals = 0
    /// The number of consecutive topic refusals that proves a wrong configuration.
    private static let mostTopicRefusals = 5
    private var random = SystemRandomNumberGenerator()
    /// The gateway's last reason that indicated trouble.
    private(set) var reason = ""

    /// Whether the app may send without restriction; otherwise only a probe may be sent.
    var isClosed: Bool { breaker.isClosed }
    /// Whether at least three pauses of the circuit breaker ended with a failed probe.
    var isLasting: Bool { breaker.pauses >= 3 }

    /// Returns whether a push may be sent, normally or as a probe.
    mutating func maySend(at now: @autoclosure () -> Instant) -> Bool {
        if breaker.isClosed { return true }
        if case .probe = breaker.permit(at: now()) { return true }
        return false
    }

    mutating func permit(at now: Instant) -> GatewayCircuitBreaker.Permit { breaker.permit(at: now) }

    mutating func probeSent() { breaker.probeSent() }

    mutating func delivered() {
        breaker.succeeded()
        topicRefusals = 0
    }

    mutating func unprocessed(at now: Instant) { breaker.probeUnprocessed(at: now) }

    /// Notes that the response to a push was lost.
    mutating func lostResponse(at now: @autoclosure () -> Instant) {
        if !breaker.isClosed { breaker.failed(at: now(), using: &random) }
    }

    mutating func rejected(_ verdict: Verdict, at now: @autoclosure () -> Instant) {
        switch verdict {
        case .serverTrouble(let reason, _), .outcomeUnknown(let reason):
            self.reason = reason
            breaker.failed(at: now(), using: &random)
        default: breaker.succeeded()
        }
        if case .configurationWrong = verdict {} else { topicRefusals = 0 }
    }

    /// Notes that the gateway refused the app's own topic.
    ///
    /// - Returns: whether enough refusals in a row prove a wrong configuration.
    mutating func topicRefused() -> Bool {
        topicRefusals += 1
        return topicRefusals >= Self.mostTopicRefusals
    }

    /// Forgets earlier responses, because an operator has resumed the app.
    mutating func reset() { (breaker, topicRefusals) = (GatewayCircuitBreaker(), 0) }
}
