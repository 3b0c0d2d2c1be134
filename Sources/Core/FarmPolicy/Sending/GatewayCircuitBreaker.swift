/// Stops sending on a connection while its gateway has trouble.
///
/// In the closed state, pushes are sent. By default, ten responses in a row that indicate trouble open the breaker, and sending
/// stops for 0.5 s. Each further stop in a row lasts twice as long, up to 5 s. After each stop, a single probe is sent. Any
/// response that indicates no trouble closes the breaker.
package struct GatewayCircuitBreaker: Hashable, Sendable {
    /// What may be sent now.
    package enum Permit: Hashable, Sendable {
        case all
        /// One push may be sent, followed by a call of ``probeSent()``.
        case probe
        /// Nothing may be sent before the given time; nil if nothing may be sent before the probe has ended.
        case nothing(until: Instant?)
    }

    private enum State: Hashable {
        case closed(failures: Int)
        case open(until: Instant)
        case probing
    }

    private let threshold: Int
    private var backOff: BackOff
    private var state = State.closed(failures: 0)

    package init(
        threshold: Int = 10, first: Duration = .milliseconds(500), longest: Duration = .seconds(5)
    ) {
        self.threshold = threshold
        backOff = BackOff(first: first, longest: longest)
    }

    package var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// The number of stops of sending since the last response that indicates no trouble.
    package var pauses: Int { backOff.failures }

    package func permit(at now: Instant) -> Permit {
        switch state {
        case .closed: .all
        case .open(let until): now < until ? .nothing(until: until) : .probe
        case .probing: .nothing(until: nil)
        }
    }

    /// Notes that the push allowed by ``Permit/probe`` was sent.
    package mutating func probeSent() {
        guard case .open = state else { preconditionFailure("a probe sent in state \(state)") }
        state = .probing
    }

    /// Notes a response that does not indicate gateway trouble.
    package mutating func succeeded() {
        if case .closed(0) = state { return }
        state = .closed(failures: 0)
        backOff.succeeded()
    }

    /// Notes a response that indicates gateway trouble. A probe that got no response before its timeout or before its connection
    /// ended counts as a response that indicates trouble.
    ///
    /// While sending is stopped, a call changes nothing, because the response belongs to a push that was sent before the stop.
    package mutating func failed(at now: Instant, using random: inout some RandomNumberGenerator) {
        switch state {
        case .closed(let failures) where failures + 1 < threshold: state = .closed(failures: failures + 1)
        case .open: break
        case .closed, .probing: state = .open(until: now.advanced(by: backOff.failed(using: &random)))
        }
    }

    /// Notes that the probe was not processed, so that another probe may be sent.
    package mutating func probeUnprocessed(at now: Instant) {
        if state == .probing { state = .open(until: now) }
    }
}

/// Reacts to streams that the gateway refuses without processing them. After several refusals in a row, the connection opens no
/// stream for a while. After the wait, the connection opens a single stream. If the gateway refuses this stream too, the wait
/// before the next single stream is longer. A response to a push ends the restriction.
package struct RefusedStreams: Sendable {
    /// The number of consecutive refusals before the first delay.
    package static let enough = 20

    private var breaker = GatewayCircuitBreaker(
        threshold: enough, first: .milliseconds(500), longest: .seconds(8))
    /// Whether streams were refused since the last response. While this property is false, the checks before each push skip
    /// ``breaker``, which saves time.
    private var isTroubled = false
    /// The last permit of ``breaker``.
    private var permit = GatewayCircuitBreaker.Permit.all
    /// When bytes were last received or deadlines were last checked.
    private var now: Instant
    private var responses = 0
    private var unprocessed = 0

    package init(start: Instant) { now = start }

    /// Whether sending is unrestricted.
    package var isUnrestricted: Bool { !isTroubled || breaker.isClosed }
    /// Whether sending was stopped at least three times in a row because the gateway refused all streams.
    package var isLasting: Bool { breaker.pauses >= 3 }
    /// Whether the connection was useful. The gateway must have responded to at least one push, and the number of unprocessed
    /// pushes must be less than ``enough`` or less than ten times the number of responses.
    package var wasOfUse: Bool {
        responses > 0 && (unprocessed < Self.enough || responses > unprocessed / 10)
    }

    /// Returns how many of `free` streams may be opened.
    package func room(of free: Int) -> Int {
        guard isTroubled else { return free }
        return switch permit {
        case .all: free
        case .probe: min(free, 1)
        case .nothing: 0
        }
    }

    package mutating func setNow(_ now: Instant) { self.now = now }

    /// Checks whether the delay after refusals is over.
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
        breaker.succeeded()
        permit = .all
    }

    /// - Parameter isRefused: true if the gateway refused the stream itself; false if the stream ended because its connection
    ///   ended.
    package mutating func noteUnprocessed(isRefused: Bool, using random: inout some RandomNumberGenerator) {
        unprocessed += 1
        if isRefused { pause(using: &random) }
    }

    /// Notes that a push ended without a response. If a probe was in flight, the push may have been the probe, so streams are
    /// delayed again.
    package mutating func endedWithoutResponse(using random: inout some RandomNumberGenerator) {
        if isTroubled, permit == .nothing(until: nil) { pause(using: &random) }
    }

    private mutating func pause(using random: inout some RandomNumberGenerator) {
        isTroubled = true
        breaker.failed(at: now, using: &random)
        permit = breaker.permit(at: now)
    }
}
