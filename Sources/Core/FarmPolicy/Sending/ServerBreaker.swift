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
