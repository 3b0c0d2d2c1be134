/// Finds the best number of connections and pushes per second for one app in one worker.
///
/// At every poll interval, the caller passes a sample of what the connections did, and the governor returns the changes
/// that the caller must make. Rate limits that operators set are not the governor's task.
package struct Governor: Sendable {
    package enum Change: Hashable, Sendable {
        case connections(ConnectionScale.Step)
        /// Pushes per second; nil means unlimited.
        case rate(from: Double?, to: Double?)
    }

    private var scale: ConnectionScale
    private var allowed: AllowedRate

    package init(_ settings: GovernorSettings) {
        scale = ConnectionScale(settings)
        allowed = AllowedRate(settings)
    }

    /// Applies new settings. If the number of connections is below the new minimum or above the new maximum, it becomes
    /// this minimum or maximum. What the governor has measured about the rate is kept.
    package mutating func change(to settings: GovernorSettings) {
        scale = ConnectionScale(settings, beginningWith: scale.wanted)
    }

    /// The number of connections to use while there is something to send.
    package var connections: Int { scale.wanted }

    /// The limit in pushes per second while the gateway has trouble; nil means unlimited.
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

/// The settings of an app's governor in one worker.
package struct GovernorSettings: Hashable, Sendable {
    package var minConnections = 1
    package var maxConnections = 16
    package var scale = ConnectionScaling.automatic
    /// Connections are added after all streams were in use, and pushes waited, for this time; not for an automatic scale.
    /// Connections are removed after the next lower number of connections would have been enough for this time.
    package var minSustain = Duration.seconds(2)
    /// The time between two samples.
    package var pollInterval = Duration.milliseconds(200)
    /// How long the governor waits after a change before it decides again; with an automatic scale, only after it has removed
    /// connections.
    package var settlePeriod = Duration.seconds(4)
    /// Whether the pool of connections decides when to add connections, as for a binary gateway. If so, the governor
    /// only removes surplus connections.
    package var growsByItself = false

    package init() {}

    /// Settings with a fixed number of connections.
    package init(connections: Int) {
        (minConnections, maxConnections) = (connections, connections)
    }
}

/// How much the number of connections changes in one step.
package enum ConnectionScaling: Hashable, Sendable {
    /// Doubles the number within a few response times, as TCP's slow start does, while the thread can use more connections.
    /// Removes one connection at a time.
    case automatic
    /// Adds or removes this many connections.
    case incremental(Int)
    /// Multiplies or divides by this factor, which is more than 1.
    case exponential(Double)
    /// Never changes the number.
    case constant

    /// Returns the number one step above `count`, which is at least 1.
    package func up(from count: Int) -> Int {
        switch self {
        case .automatic: 2 * count
        case .incremental(let step): count + step
        case .exponential(let factor): max(count + 1, Int(clamping: (Double(count) * factor).rounded(.up)))
        case .constant: count
        }
    }

    /// Returns the number one step below `count`; the result may be below 1.
    package func down(from count: Int) -> Int {
        switch self {
        case .automatic: count - 1
        case .incremental(let step): count - step
        case .exponential(let factor): min(count - 1, Int(clamping: (Double(count) / factor).rounded(.down)))
        case .constant: count
        }
    }
}
