/// Stops a connection from pouring pushes into a gateway that is in trouble.
///
/// Closed: pushes flow. Ten answers of trouble in a row open it: nothing flows for 0.5 s, doubling to 5 s.
/// Then a single probe goes out. Any answer that is not trouble closes it.
package struct ServerBreaker: Hashable, Sendable {
    /// What may be sent now.
    package enum Permit: Hashable, Sendable {
        case all
        /// One push may be sent; call ``probeSent()`` then.
        case probe
        /// Nothing before the given time; nil: not before the probe's end.
        case nothing(until: Instant?)
    }

    private enum State: Hashable {
        case closed(troubles: Int)
        case open(until: Instant)
        case probing
    }

    private let threshold: Int
    private var backOff: BackOff
    private var state = State.closed(troubles: 0)

    package init(
        threshold: Int = 10, first: Duration = .milliseconds(500), longest: Duration = .seconds(5)
    ) {
        self.threshold = threshold
        backOff = BackOff(first: first, longest: longest)
    }

    package var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Pauses in a row, with nothing but trouble in between.
    package var pauses: Int { backOff.failures }

    package func permit(at now: Instant) -> Permit {
        switch state {
        case .closed: .all
        case .open(let until): now < until ? .nothing(until: until) : .probe
        case .probing: .nothing(until: nil)
        }
    }

    /// The push that ``Permit/probe`` allowed was sent.
    package mutating func probeSent() {
        guard case .open = state else { preconditionFailure("a probe sent in state \(state)") }
        state = .probing
    }

    /// An answer that was not trouble of the gateway, whatever it said.
    package mutating func answered() {
        if case .closed(0) = state { return }
        state = .closed(troubles: 0)
        backOff.succeeded()
    }

    /// An answer that was trouble of the gateway; or the probe got none before its time-out or its
    /// connection's end.
    ///
    /// Trouble while nothing may be sent is about older pushes, and changes nothing.
    package mutating func troubled(at now: Instant, using random: inout some RandomNumberGenerator) {
        switch state {
        case .closed(let troubles) where troubles + 1 < threshold: state = .closed(troubles: troubles + 1)
        case .open: break
        case .closed, .probing: state = .open(until: now.advanced(by: backOff.failed(using: &random)))
        }
    }

    /// The probe ended without having been tried (never sent, refused unprocessed): another may go.
    package mutating func probeReturned(at now: Instant) {
        if state == .probing { state = .open(until: now) }
    }
}

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
