/// What one connection does about streams that its gateway refuses without acting on them: after some in a row, with no response
/// in between, it pauses, and then tries a single one after each of growing pauses, until the first response.
package struct RefusedStreams: Sendable {
    /// Refusals in a row before the first pause.
    package static let enough = 20

    private var breaker = ServerBreaker(threshold: enough, first: .milliseconds(500), longest: .seconds(8))
    /// Streams were refused since the last response: only then ``breaker`` is asked, for this is on the way of each push.
    private var isTroubled = false
    /// What ``breaker`` allowed when it was last asked.
    private var permit = ServerBreaker.Permit.all
    /// When bytes were last received, or the deadlines looked at.
    private var now: Instant
    private var responses = 0
    private var unprocessed = 0

    package init(start: Instant) { now = start }

    /// Nothing is held back.
    package var isCalm: Bool { !isTroubled || breaker.isClosed }
    /// Every stream has been refused for some pauses.
    package var isLasting: Bool { breaker.pauses >= 3 }
    /// The gateway responded, and not to a few pushes only of many that came back unprocessed.
    package var wasOfUse: Bool {
        responses > 0 && (unprocessed < Self.enough || responses > unprocessed / 10)
    }

    /// Streams that may be opened, of those that are free.
    package func room(of free: Int) -> Int {
        guard isTroubled else { return free }
        return switch permit {
        case .all: free
        case .probe: min(free, 1)
        case .nothing: 0
        }
    }

    package mutating func turn(to now: Instant) { self.now = now }

    /// A pause may be over.
    package mutating func poll(at now: Instant) {
        self.now = now
        if isTroubled { permit = breaker.permit(at: now) }
    }

    package mutating func sent() {
        guard isTroubled, permit == .probe else { return }
        breaker.probeSent()
        permit = .nothing(until: nil)
    }

    package mutating func responded() {
        responses += 1
        guard isTroubled else { return }
        isTroubled = false
        breaker.answered()
        permit = .all
    }

    /// - Parameter isRefused: by itself, not by the connection's end.
    package mutating func noteUnprocessed(isRefused: Bool, using random: inout some RandomNumberGenerator) {
        unprocessed += 1
        if isRefused { pause(using: &random) }
    }

    /// A push ended without a response: it may have been the one that was tried.
    package mutating func endedUnanswered(using random: inout some RandomNumberGenerator) {
        if isTroubled, permit == .nothing(until: nil) { pause(using: &random) }
    }

    private mutating func pause(using random: inout some RandomNumberGenerator) {
        isTroubled = true
        breaker.troubled(at: now, using: &random)
        permit = breaker.permit(at: now)
    }
}
