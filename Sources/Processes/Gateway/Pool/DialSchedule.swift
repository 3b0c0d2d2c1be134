import EventLoop
import FarmPolicy

/// When a pool may dial again: after a failure with backoff, and no more often than the dial rate allows.
///
/// A connection that the gateway took and that was of no use counts as a failed dial: no gateway likes to be dialled in a loop.
@Loop final class DialSchedule {
    private enum Pause {
        case none
        /// The dial rate is used up.
        case rate(isLong: Bool)
        case failure(isLong: Bool)
    }

    private var backOff = BackOff()
    private var rate = DialRate(connections: 1, life: .zero)
    private var pause = Pause.none
    private var timer: Timer?
    private var random = SystemRandomNumberGenerator()
    /// Dials in a row that the gateway ended by a TLS alert: it does not like our certificate.
    private(set) var refusalsInARow = 0
    /// Failures in a row that were connections of no use: the gateway took them, and then responded to nothing.
    private(set) var uselessInARow = 0
    /// Connections that count as such, and are not closed yet.
    private var useless: Set<ObjectIdentifier> = []
    /// Connections that were made since the last failure.
    private var madeSinceFailure: Set<ObjectIdentifier> = []
    /// Connections of older plans that are not closed yet: their end says nothing about the present one.
    private var outdated: Set<ObjectIdentifier> = []

    /// - Parameter pauseEnded: called when a pause is over.
    init(pauseEnded: @escaping @Loop () -> Void) {
        timer = Timer { [unowned self] in
            pause = .none
            pauseEnded()
        }
    }

    var isPausing: Bool { if case .none = pause { false } else { true } }
    /// The pause is one after a failure.
    var hasFailed: Bool { if case .failure = pause { true } else { false } }
    /// The pause is too long for bulk to wait for the next connection.
    var isLongPause: Bool {
        switch pause {
        case .none: false
        case .rate(let isLong), .failure(let isLong): isLong
        }
    }

    /// Begins again with a new plan; `connections` are those of older plans.
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

    /// Takes a dial from the rate; without one a pause begins.
    func takeDial(at now: Instant) -> Bool {
        let wait = rate.take(at: now)
        guard wait > .zero else { return true }
        pause = .rate(isLong: Self.isLong(wait))
        timer?.start(after: wait)
        return false
    }

    /// After a failure one dial is enough to find out whether the gateway takes connections again.
    func isTroubled(_ connections: [any GatewayConnection]) -> Bool {
        backOff.failures > 0 && !hasServedSinceFailure(connections)
    }

    /// The failure was that of some dials: others have succeeded since.
    func endPauseIfServed(by connections: [any GatewayConnection]) {
        guard hasFailed, hasServedSinceFailure(connections) else { return }
        backOff.succeeded()
        endPause()
    }

    /// A connection that was made since the last failure is of use.
    func hasServedSinceFailure(_ connections: [any GatewayConnection]) -> Bool {
        connections.contains { $0.isProven && madeSinceFailure.contains(ObjectIdentifier($0)) }
    }

    // MARK: Successes and failures

    func made(_ connection: any GatewayConnection) { madeSinceFailure.insert(ObjectIdentifier(connection)) }

    /// A dial has failed, or the gateway has refused a connection.
    func failed(refusedByPeer: Bool, connections: [any GatewayConnection]) {
        let isNew = !refusedByPeer || connections.contains { $0.isProven }
        refusalsInARow = (isNew ? 0 : refusalsInARow) + (refusedByPeer ? 1 : 0)
        backOff(after: connections)
    }

    /// A connection that takes no more pushes was of no use. It counts once.
    func wasUseless(_ connection: any GatewayConnection, connections: [any GatewayConnection]) {
        guard useless.insert(ObjectIdentifier(connection)).inserted else { return }
        countUseless(connections)
    }

    /// A connection is closed.
    ///
    /// - Parameter connections: the others.
    /// - Returns: whether the gateway refused the connection, which the owner must know.
    func isRefusal(endOf connection: any GatewayConnection, connections: [any GatewayConnection]) -> Bool {
        let id = ObjectIdentifier(connection)
        let isSinceFailure = madeSinceFailure.remove(id) != nil
        let isKnown = useless.remove(id) != nil
        guard outdated.remove(id) == nil else { return false }
        if connection.isProven { refusalsInARow = 0 }
        if connection.hasMadeProgress {
            // One from before the failure says nothing about the dials since.
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
        // Connections that end together are one failure.
        guard !hasFailed else { return }
        // The gateway has served a connection since: it is a first failure, however many there were before.
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

/// How connections are made: how long it may take, and how long it is waited after one that failed.
package struct DialSettings: Hashable, Sendable {
    package var timeout = Duration.seconds(10)
    /// The pause after a first failure; it doubles with each further one, up to the longest.
    package var firstPause = Duration.milliseconds(500)
    package var longestPause = Duration.seconds(10)
    /// The part of a pause that is random, 0...1.
    package var jitter = 0.5

    package init() {}
}
