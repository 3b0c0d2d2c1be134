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

/// What an app's governor in one worker goes by.
package struct GovernorSettings: Hashable, Sendable {
    package var minConnections = 1
    package var maxConnections = 8
    package var scale = ScaleMode.incremental(1)
    /// Streams must have been short, or a step less enough, for so long before the number of connections changes.
    package var minSustain = Duration.seconds(2)
    /// Between two looks.
    package var pollInterval = Duration.milliseconds(200)
    /// After a change, when all connections are there, nothing is decided for so long.
    package var settlePeriod = Duration.seconds(4)
    /// The pool makes connections by a rule of its own, as a binary gateway's does: only the surplus is closed here.
    package var growsByItself = false

    package init() {}

    /// A number of connections that stays.
    package init(connections: Int) {
        (minConnections, maxConnections) = (connections, connections)
    }
}

/// By how much the number of connections goes up and down at a time.
package enum ScaleMode: Hashable, Sendable {
    /// By so many.
    case incremental(Int)
    /// By this factor, more than 1.
    case exponential(Double)
    /// Not at all.
    case constant

    /// One step more than `count`, which is at least 1.
    package func up(from count: Int) -> Int {
        switch self {
        case .incremental(let step): count + step
        case .exponential(let factor): max(count + 1, Int(clamping: (Double(count) * factor).rounded(.up)))
        case .constant: count
        }
    }

    /// One step less than `count`; may be below 1.
    package func down(from count: Int) -> Int {
        switch self {
        case .incremental(let step): count - step
        case .exponential(let factor): min(count - 1, Int(clamping: (Double(count) / factor).rounded(.down)))
        case .constant: count
        }
    }
}
