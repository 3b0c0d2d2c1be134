/// What an app's connections did since the governor's last sample.
package struct GovernorSample: Hashable, Sendable {
    /// The duration that the sample covers.
    package var span: Duration
    /// The number of connections that accept pushes.
    package var connections = 0
    /// The number of pushes that all these ``connections`` together may have in flight at a time.
    package var streams = 0
    /// The mean number of pushes in flight.
    package var open = 0.0
    /// The share of the time, 0...1, in which pushes waited because no connection had a free stream.
    package var blocked = 0.0
    /// The share of the time, 0...1, in which pushes waited only because of the allowed rate.
    package var limited = 0.0
    /// The number of responses, with any status, that do not indicate trouble of the gateway.
    package var responses = 0
    /// The number of responses that indicate trouble of the gateway: with status 500 or 503, or with status 429 to
    /// pushes to several devices.
    package var troubles = 0
    /// The share of the time, 0...1, in which this worker's thread ran or waited for a processor.
    package var load = 0.0
    /// Whether a connection uses fewer streams than its gateway allows, because of trouble.
    package var isSlowed = false
    /// Whether a gateway has lowered the stream limit of a connection.
    package var wasLowered = false
    /// Whether the worker has stopped sending, except for a probe, because too many responses indicated trouble.
    package var isStopped = false

    package init(span: Duration) { self.span = span }

    package var seconds: Double { span / .seconds(1) }

    var count: Int { responses + troubles }
    /// Whether this worker's thread was the bottleneck.
    var isBusy: Bool { load > 0.9 }
    /// Whether more than 2 % of the responses indicate trouble.
    var isTroubled: Bool { 50 * troubles > responses + troubles }
}

/// The sum of several consecutive samples.
struct GovernorSum: Hashable {
    private(set) var span = Duration.zero
    /// The seconds in which pushes waited because no connection had a free stream.
    private(set) var blocked = 0.0
    /// The seconds in which pushes waited only because of the allowed rate.
    private(set) var limited = 0.0
    private(set) var responses = 0
    private(set) var troubles = 0
    /// The sum over all pushes of the seconds that each was in flight.
    private var open = 0.0

    var seconds: Double { span / .seconds(1) }
    var count: Int { responses + troubles }
    /// The share of the responses that indicate trouble.
    var troubleShare: Double { count > 0 ? Double(troubles) / Double(count) : 0 }
    /// Responses per second.
    var rate: Double { seconds > 0 ? Double(count) / seconds : 0 }
    /// The number of responses per second that do not indicate trouble.
    var taken: Double { seconds > 0 ? Double(responses) / seconds : 0 }

    mutating func add(_ sample: GovernorSample) {
        span += sample.span
        blocked += sample.blocked * sample.seconds
        limited += sample.limited * sample.seconds
        responses += sample.responses
        troubles += sample.troubles
        open += sample.open * sample.seconds
    }

    /// The mean time from a push to its response, by Little's law; nil without a response. While the first responses are still on
    /// their way, the estimate is too long: pushes are in flight, and few have come back.
    var responseTime: Duration? { count > 0 ? Duration(clampingSeconds: open / Double(count)) : nil }
}

/// Measures how long pushes waited for a free stream or because of the allowed rate, and how many streams were open.
/// The caller updates the meter once per turn of the event loop.
package struct LoadMeter: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// No push waits for a free stream or because of the allowed rate.
        case flowing
        /// Pushes wait because no connection has a free stream.
        case blocked
        /// Pushes wait because of the allowed rate.
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

    /// Sets the state from this moment on.
    package mutating func note(_ state: State, open: Int, at now: Instant) {
        pass(to: now)
        (self.state, self.open) = (state, open)
    }

    /// Returns a sample of the time since the last call.
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
