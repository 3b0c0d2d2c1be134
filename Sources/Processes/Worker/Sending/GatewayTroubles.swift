import APNs
import FarmPolicy

/// Whether an app's gateway is in trouble, by its responses: the circuit breaker, and responses about a wrong configuration in a row.
struct GatewayTroubles {
    private var breaker = ServerBreaker()
    /// Refusals of the app's own topic in a row.
    private var topicRefusals = 0
    /// So many of them mean that the app's configuration is wrong.
    private static let mostTopicRefusals = 5
    private var random = SystemRandomNumberGenerator()
    /// What the gateway last responded when it was in trouble.
    private(set) var reason = ""

    /// Nothing stops the app from sending but a probe.
    var isClosed: Bool { breaker.isClosed }
    /// Each pause ended with a probe that fared no better.
    var isLasting: Bool { breaker.pauses >= 3 }

    /// A push may be sent; a probe needs one as well.
    mutating func maySend(at now: @autoclosure () -> Instant) -> Bool {
        if breaker.isClosed { return true }
        if case .probe = breaker.permit(at: now()) { return true }
        return false
    }

    mutating func permit(at now: Instant) -> ServerBreaker.Permit { breaker.permit(at: now) }

    mutating func probeSent() { breaker.probeSent() }

    mutating func delivered() {
        breaker.answered()
        topicRefusals = 0
    }

    mutating func unprocessed(at now: Instant) { breaker.probeReturned(at: now) }

    /// The response to a push was lost.
    mutating func lostResponse(at now: @autoclosure () -> Instant) {
        if !breaker.isClosed { breaker.troubled(at: now(), using: &random) }
    }

    mutating func rejected(_ verdict: Verdict, at now: @autoclosure () -> Instant) {
        switch verdict {
        case .serverTrouble(let reason, _), .outcomeUnknown(let reason):
            self.reason = reason
            breaker.troubled(at: now(), using: &random)
        default: breaker.answered()
        }
        if case .configurationWrong = verdict {} else { topicRefusals = 0 }
    }

    /// The app's own topic was refused.
    ///
    /// - Returns: whether it was so often that the app's configuration must be wrong.
    mutating func topicRefused() -> Bool {
        topicRefusals += 1
        return topicRefusals >= Self.mostTopicRefusals
    }

    /// An operator has resumed the app: earlier responses count no more.
    mutating func reset() { (breaker, topicRefusals) = (ServerBreaker(), 0) }
}
