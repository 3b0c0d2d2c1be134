import EventLoop
import FarmPolicy

/// Decides when a pool may dial again. A dial after a failure waits for a backoff, and dials never exceed the dial
/// rate.
///
/// A useless connection, which the gateway accepts without responding to any push, counts as a failed dial. If it
/// counted as a success, the gateway would be dialled in a loop.
@Loop final class DialSchedule {
    private enum Pause {
        case none
        /// The dial rate allows no dial now.
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
    /// The number of consecutive useless connections, which the gateway accepted without responding to any push.
    private(set) var uselessInARow = 0
    /// Useless connections that are not closed yet.
    private var useless: Set<ObjectIdentifier> = []
    /// Connections that were opened since the last failed dial.
    private var madeSinceFailure: Set<ObjectIdentifier> = []
    /// Connections of older settings that are not closed yet. If such a connection ends, the end is not counted, because
    /// it proves nothing about the present settings.
    private var outdated: Set<ObjectIdentifier> = []

    /// - Parameter pauseEnded: called when a delay of dials is over.
    init(pauseEnded: @escaping @Loop () -> Void) {
        timer = Timer { [unowned self] in
            pause = .none
            pauseEnded()
        }
    }

    var isPausing: Bool { if case .none = pause { false } else { true } }
    /// Whether the current delay of dials follows a failure.
    var hasFailed: Bool { if case .failure = pause { true } else { false } }
    /// Whether the current delay is so long that bulk pushes should not wait for the next connection.
    var isLongPause: Bool {
        switch pause {
        case .none: false
        case .rate(let isLong), .failure(let isLong): isLong
        }
    }

    /// Starts again with the dial rate and the delays of new settings. `connections` are the connections of older settings.
    func apply(_ gatewaySettings: GatewaySettings?, outdated connections: [any GatewayConnection]) {
        if let gatewaySettings {
            rate.change(
                connections: gatewaySettings.connections, life: gatewaySettings.wire.shortestLife,
                perMinute: gatewaySettings.wire.dialsPerMinute)
        }
        madeSinceFailure = []
        outdated.formUnion(connections.map { ObjectIdentifier($0) })
        (refusalsInARow, uselessInARow) = (0, 0)
        let dial = gatewaySettings?.dial ?? DialSettings()
        backOff = BackOff(first: dial.firstPause, longest: dial.longestPause, jitter: dial.jitter)
        endPause()
    }

    // MARK: Dials

    /// Takes one dial from the dial rate. If the rate allows no dial now, a delay begins.
    func takeDial(at now: Instant) -> Bool {
        let wait = rate.take(at: now)
        guard wait > .zero else { return true }
        pause = .rate(isLong: Self.isLong(wait))
        timer?.start(after: wait)
        return false
    }

    /// Whether dials have failed, and no connection has worked since the last failure. In this case, one dial at a time
    /// is enough to test the gateway.
    func isTroubled(_ connections: [any GatewayConnection]) -> Bool {
        backOff.failures > 0 && !hasServedSinceFailure(connections)
    }

    /// Ends the delay after a failure if a connection that was opened since the failure works.
    func endPauseIfServed(by connections: [any GatewayConnection]) {
        guard hasFailed, hasServedSinceFailure(connections) else { return }
        backOff.succeeded()
        endPause()
    }

    /// Whether the gateway has accepted the credentials on a connection that was opened since the last failure.
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

    /// Notes that a connection takes no more pushes and was useless. Further calls for the same connection have no
    /// effect.
    func recordUseless(_ connection: any GatewayConnection, connections: [any GatewayConnection]) {
        guard useless.insert(ObjectIdentifier(connection)).inserted else { return }
        countUseless(connections)
    }

    /// Notes that a connection is closed.
    ///
    /// - Parameter connections: the other connections.
    /// - Returns: whether the gateway refused the connection. If so, the caller must tell the owner of the pool.
    func recordEnd(of connection: any GatewayConnection, connections: [any GatewayConnection]) -> Bool {
        let id = ObjectIdentifier(connection)
        let isSinceFailure = madeSinceFailure.remove(id) != nil
        let isKnown = useless.remove(id) != nil
        guard outdated.remove(id) == nil else { return false }
        if connection.isProven { refusalsInARow = 0 }
        if connection.hasMadeProgress {
            // A connection that was opened before the last failure proves nothing about dials after the failure.
            if isSinceFailure { backOff.succeeded() }
            uselessInARow = 0
        } else if connection.rejectedCertificate {
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
        // Several connections may end at the same time. During the delay after a failure, further failures are not
        // counted.
        guard !hasFailed else { return }
        // If a connection has worked since the last failure, this failure counts as a first failure, so the delay is
        // short.
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

/// The settings of dials: the timeout, and the delays after failures.
package struct DialSettings: Hashable, Sendable {
    package var timeout = Duration.seconds(10)
    /// The delay after a first failure. The delay doubles with each further failure, up to `longestPause`.
    package var firstPause = Duration.milliseconds(500)
    package var longestPause = Duration.seconds(10)
    /// The share of a delay that is random, from 0 to 1.
    package var jitter = 0.5

    package init() {}
}
