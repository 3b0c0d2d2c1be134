import APNs
import FarmPolicy

/// Decides from responses whether an app's gateway has trouble, and whether the app's configuration is wrong. While the gateway
/// has trouble, a circuit breaker stops sending.
struct GatewayHealth {
    private var breaker = GatewayCircuitBreaker()
    /// The number of consecutive refusals of the app's own topic.
    private var topicRefusals = 0
    /// The number of consecutive topic refusals that proves a wrong configuration.
    private static let mostTopicRefusals = 5
    private var random = SystemRandomNumberGenerator()
    /// The reason in the gateway's last response that indicated trouble.
    private(set) var reason = ""

    /// Whether the app may send without restriction. Otherwise, the app may send nothing or only a probe.
    var allowsSending: Bool { breaker.isClosed }
    /// Whether the circuit breaker has stopped sending at least three times in a row.
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
