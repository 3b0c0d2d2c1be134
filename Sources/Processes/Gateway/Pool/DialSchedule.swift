import EventLoop
import FarmPolicy

/// Decides when a pool may dial again: after a failure with backoff, and no more often than the dial rate
/// allows.
///
/// A connection that the gateway accepted but that was useless counts as a failed dial, so that the gateway is not dialled in a
/// loop.
@Loop final class DialSchedule {
    private enum Pause {
        case none
        /// No dial is available from the dial rate.
        case rate(isLong: Bool)
        case failure(isLong: Bool)
    }

    private var backOff = BackOff()
    private var rate = DialRate(connections: 1, life: .zero)
    private var pause = Pause.none
    private var timer: Timer?
    private var random = SystemRandomNumberGenerator()
    /// The number of consecutive dials that the gateway ended by a TLS alert, because it rejects the client
    /// certificate.
    private(set) var refusalsInARow = 0
    /// The number of consecutive useless connections: the gateway accepted them and then responded to nothing.
    private(set) var uselessInARow = 0
    /// Useless connections that are not closed yet.
    private var useless: Set<ObjectIdentifier> = []
    /// Connections that were opened since the last failure.
    private var madeSinceFailure: Set<ObjectIdentifier> = []
    /// Connections of older plans that are not closed yet. Their end proves nothing about the present plan.
    private var outdated: Set<ObjectIdentifier> = []

    /// - Parameter pauseEnded: called when a pause is over.
    init(pauseEnded: @escaping @Loop () -> Void) {
        timer = Timer { [unowned self] in
            pause = .none
            pauseEnded()
        }
    }

    var isPausing: Bool { if case .none = pause { false } else { true } }
    /// Whether the present pause follows a failure.
    var hasFailed: Bool { if case .failure = pause { true } else { false } }
    /// Whether the pause is so long that bulk should not wait for the next connection.
    var isLongPause: Bool {
        switch pause {
        case .none: false
        case .rate(let isLong), .failure(let isLong): isLong
        }
    }

    /// Restarts with a new plan; `connections` are those of older plans.
    func follow(_ plan: GatewayPlan?, outdated connections: [any GatewayConnection]) {
        if let plan {
            rate.change(
                connections: plan.connections, life: plan.wire.shortestLife,
                perMinute: plan.wire.dialsPerMinute)
        }
        madeSinceFailure = []
        outdated.formUnion(connections.map { ObjectIdentifier($0) })
        (refusalsInARow, uselessInARow) = (0, 0)
        let dial = plan?.dial ?? DialSettings()
        backOff = BackOff(first: dial.firstPause, longest: dial.longestPause, jitter: dial.jitter)
        endPause()
    }

    // MARK: Dials

    /// Takes a dial from the dial rate; without an available dial, a pause begins.
    func takeDial(at now: Instant) -> Bool {
        let wait = rate.take(at: now)
        guard wait > .zero else { return true }
        pause = .rate(isLong: Self.isLong(wait))
        timer?.start(after: wait)
        return false
    }

    /// Whether dials have failed and no connection has worked since. One dial at a time is then enough to
    /// test the gateway.
    func isTroubled(_ connections: [any GatewayConnection]) -> Bool {
        backOff.failures > 0 && !hasServedSinceFailure(connections)
    }

    /// Ends the pause if other dials have succeeded since the failure.
    func endPauseIfServed(by connections: [any GatewayConnection]) {
        guard hasFailed, hasServedSinceFailure(connections) else { return }
        backOff.succeeded()
        endPause()
    }

    /// Whether a connection that was opened since the last failure works.
    func hasServedSinceFailure(_ connections: [any GatewayConnection]) -> Bool {
        connections.contains { $0.isProven && madeSinceFailure.contains(ObjectIdentifier($0)) }
    }

    // MARK: Successes and failures

    func recordOpened(_ connection: any GatewayConnection) {
        madeSinceFailure.insert(ObjectIdentifier(connection))
    }

    /// Notes that a dial has failed, or that the gateway has refused a connection.
    func recordFailure(refusedByPeer: Bool, connections: [any GatewayConnection]) {
        let isNew = !refusedByPeer || connections.contains { $0.isProven }
        refusalsInARow = (isNew ? 0 : refusalsInARow) + (refusedByPeer ? 1 : 0)
        backOff(after: connections)
    }

    /// Notes, once per connection, that a connection which takes no more pushes was useless.
    func recordUseless(_ connection: any GatewayConnection, connections: [any GatewayConnection]) {
        guard useless.insert(ObjectIdentifier(connection)).inserted else { return }
        countUseless(connections)
    }

    /// Notes that a connection is closed.
    ///
    /// - Parameter connections: the other connections.
    /// - Returns: whether the gateway refused the connection, which the owner must know.
    func recordEnd(of connection: any GatewayConnection, connections: [any GatewayConnection]) -> Bool {
        let id = ObjectIdentifier(connection)
        let isSinceFailure = madeSinceFailure.remove(id) != nil
        let isKnown = useless.remove(id) != nil
        guard outdated.remove(id) == nil else { return false }
        if connection.isProven { refusalsInARow = 0 }
        if connection.hasMadeProgress {
            // A connection from before the failure proves nothing about later dials.
            if isSinceFailure { backOff.succeeded() }
            uselessInARow = 0
        } else if connection.wasRefused {
            return true
        } else if !isKnown {
            countUseless(connections)
        }
        return false
    }

    private func countUseless(_ connections: [any GatewayConnection]) {
        if !hasFailed { uselessInARow += 1 }
        backOff(after: connections)
    }

    private func backOff(after connections: [any GatewayConnection]) {
        // Connections that end together count as one failure.
        guard !hasFailed else { return }
        // The gateway has served a connection since the last failure, so this counts as a first failure.
        if hasServedSinceFailure(connections) { backOff.succeeded() }
        madeSinceFailure = []
        let wait = backOff.failed(using: &random)
        pause = .failure(isLong: Self.isLong(wait))
        timer?.start(after: wait)
    }

    private func endPause() {
        timer?.stop()
        pause = .none
    }

    private static func isLong(_ pause: Duration) -> Bool { pause > .seconds(1) }
}

/// The settings of dials: timeout, and pauses after failures.
package struct DialSettings: Hashable, Sendable {
    package var timeout = Duration.seconds(10)
    /// The pause after a first failure; it doubles with each further failure, up to the longest.
    package var firstPause = Duration.milliseconds(500)
    package var longestPause = Duration.seconds(10)
    /// The random part of a pause, 0...1.
    package var jitter = 0.5

    package init() {}
}
