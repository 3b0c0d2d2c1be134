/// Adds up for how long streams were short, and how many were open: updated whenever that may have changed, which is once a turn.
package struct LoadMeter: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// Nothing waits, or for something else.
        case flowing
        /// Pushes are held, and no connection has room.
        case blocked
        /// Pushes are held, and wait for the allowed rate.
        case limited
    }

    private var begun: Instant
    private var last: Instant
    private var open = 0
    private var state = State.flowing
    private var openTime = 0.0
    private var blocked = Duration.zero
    private var limited = Duration.zero

    package init(at now: Instant) { (begun, last) = (now, now) }

    /// From now on it is like this.
    package mutating func note(_ state: State, open: Int, at now: Instant) {
        pass(to: now)
        (self.state, self.open) = (state, open)
    }

    /// What has been since the last call.
    package mutating func take(at now: Instant) -> GovernorSample {
        pass(to: now)
        var sample = GovernorSample(span: now - begun)
        if sample.span > .zero {
            sample.open = openTime / sample.seconds
            sample.blocked = blocked / sample.span
            sample.limited = limited / sample.span
        }
        begun = now
        (openTime, blocked, limited) = (0, .zero, .zero)
        return sample
    }

    private mutating func pass(to now: Instant) {
        let span = now - last
        guard span > .zero else { return }
        last = now
        if open > 0 { openTime += Double(open) * (span / .seconds(1)) }
        switch state {
        case .flowing: break
        case .blocked: blocked += span
        case .limited: limited += span
        }
    }
}
