/// Finds out how many connections a gateway wants of one app in one worker, and how many pushes a second it takes.
///
/// Gets a sample of the connections at every poll interval, and says what is to change. Owns no connection and no clock; the rate
/// that an operator has set is not its business.
package struct Governor: Sendable {
    package enum Change: Hashable, Sendable {
        case connections(ConnectionScale.Step)
        /// Pushes a second; nil: any number.
        case rate(from: Double?, to: Double?)
    }

    private var scale: ConnectionScale
    private var allowed: AllowedRate

    package init(_ settings: GovernorSettings) {
        scale = ConnectionScale(settings)
        allowed = AllowedRate(settings)
    }

    /// Other settings from now on. How many connections there are stays as far as they let it, and what was learned of the rate.
    package mutating func change(to settings: GovernorSettings) {
        scale = ConnectionScale(settings, beginningWith: scale.wanted)
    }

    /// How many connections there should be while there is something to send.
    package var connections: Int { scale.wanted }

    /// Pushes a second, because of the gateway's trouble; nil: any number.
    package var rate: Double? { allowed.limit }

    package mutating func decide(_ sample: GovernorSample, at now: Instant) -> [Change] {
        var changes: [Change] = []
        let before = allowed.limit
        if allowed.decide(sample) { changes.append(.rate(from: before, to: allowed.limit)) }
        if let step = scale.decide(sample, isHeldBack: allowed.limit != nil, at: now) {
            changes.append(.connections(step))
        }
        return changes
    }
}
