/// What an app's connections did since the governor's last look.
package struct GovernorSample: Hashable, Sendable {
    /// The time that it is about.
    package var span: Duration
    /// Connections that take pushes.
    package var connections = 0
    /// Pushes that may be open on them at a time.
    package var streams = 0
    /// The mean number of pushes that were open.
    package var open = 0.0
    /// The part of the time in which pushes were held and no connection had room for them, 0...1.
    package var blocked = 0.0
    /// The part of the time in which pushes were held and waited for the allowed rate only.
    package var limited = 0.0
    /// Answers that were no trouble of the gateway's, whatever they said.
    package var answers = 0
    /// Answers that were: 500, 503, and 429 if it came for several devices.
    package var troubles = 0
    /// We were as busy as we can be: whatever waited, waited for us.
    package var isBusy = false
    /// A connection sends less than its gateway allows, because of trouble.
    package var isSlowed = false
    /// A gateway has lowered the number of streams of a connection.
    package var wasLowered = false
    /// After much trouble nothing is sent for a while but a probe.
    package var isStopped = false

    package init(span: Duration) { self.span = span }

    package var seconds: Double { span / .seconds(1) }

    /// More of the answers were trouble than there always is.
    var isTroubled: Bool { 50 * troubles > answers + troubles }
}

/// What several samples in a row add up to.
struct GovernorSum: Hashable {
    private(set) var span = Duration.zero
    /// Seconds in which pushes were held and no connection had room for them.
    private(set) var blocked = 0.0
    /// Seconds in which pushes were held and waited for the allowed rate only.
    private(set) var limited = 0.0
    private(set) var answers = 0
    private(set) var troubles = 0

    var seconds: Double { span / .seconds(1) }
    var count: Int { answers + troubles }
    /// The part of the answers that was trouble.
    var troubleShare: Double { count > 0 ? Double(troubles) / Double(count) : 0 }
    /// Answers a second.
    var rate: Double { seconds > 0 ? Double(count) / seconds : 0 }
    /// Answers a second that were no trouble.
    var taken: Double { seconds > 0 ? Double(answers) / seconds : 0 }

    mutating func add(_ sample: GovernorSample) {
        span += sample.span
        blocked += sample.blocked * sample.seconds
        limited += sample.limited * sample.seconds
        answers += sample.answers
        troubles += sample.troubles
    }
}

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
