package import EventLoop
package import FarmPolicy
import OpenSSL
package import PushModel
import Transport

/// The connections of one app in one worker. The pool dials connections when there are pushes to send, keeps them for
/// days, and replaces a connection that takes no more pushes.
@Loop package final class ConnectionPool {
    /// Receives the events that concern more than one push.
    @Loop package protocol Owner: GatewayListener {
        /// A dial failed; the pool will retry by itself.
        func dialFailed(_ reason: String, refusedByPeer: Bool)
        /// A delay of dials is over, so a connection may be requested again. A failure or the dial rate had caused the
        /// delay.
        func dialPauseEnded()
    }

    package private(set) var connections: [any GatewayConnection] = []
    /// The number of HTTP/2 connections to keep while there are pushes to send. The number of connections to a binary
    /// gateway depends on the pushes that wait for a connection.
    private var wanted = 1
    /// The maximum number of connections; applies even if the settings allow more connections.
    package var most = Int.max
    /// Whether pushes of both lanes are sent. If true, one more HTTP/2 connection is kept for high priority.
    package var isMixed = false {
        didSet {
            guard isMixed != oldValue, let strategy, strategy.setMixed(isMixed) else { return }
            setWanted(wanted)
        }
    }
    private var gatewaySettings: GatewaySettings?
    private var strategy: (any ConnectionStrategy)?
    private weak var owner: (any Owner)?
    private lazy var schedule = DialSchedule { [unowned self] in owner?.dialPauseEnded() }
    private let dialler = Dialler()
    /// The minimum of ``window``.
    static let leastWindow = 512
    /// The number of bytes written on all connections that are already closed.
    private var bytesBefore = 0
    private var latenciesBefore = LatencyCounts()

    package init(owner: any Owner) { self.owner = owner }

    // MARK: Choosing a connection

    /// The connection with the most room; nil if no connection has room.
    package var roomiest: (any GatewayConnection)? {
        let best = connections.max { $0.room < $1.room }
        return best.flatMap { $0.room > 0 ? $0 : nil }
    }

    /// The connection with the most room for pushes of `lane`; nil if no connection has room.
    package func roomiest(for lane: Lane) -> (any GatewayConnection)? {
        let reserved = strategy?.reservedConnection(among: connections)
        guard let reserved, !reserved.isRetired,
            connections.contains(where: { $0 !== reserved && !$0.isRetired })
        else {
            let only = roomiest
            if lane == .bulk, only === reserved, only != nil {
                // If a further connection to a binary gateway can soon be opened, bulk pushes wait for the further
                // connection and do not use the reserved one.
                if headroom > 0, !schedule.hasFailed, !schedule.isLongPause { return nil }
                strategy?.releaseReservedConnection()
            }
            return only
        }
        if lane == .high, reserved.room > 0 { return reserved }
        var best: (any GatewayConnection)?
        for connection in connections where connection !== reserved && connection.room > best?.room ?? 0 {
            best = connection
        }
        return best
    }

    // MARK: Applying settings

    /// Uses the gateway settings for connections that are opened from now on, and retires connections of older settings.
    package func apply(_ gatewaySettings: GatewaySettings?) {
        self.gatewaySettings = gatewaySettings
        strategy = gatewaySettings?.wire.makeStrategy()
        _ = strategy?.setMixed(isMixed)
        wanted = gatewaySettings?.connections ?? 1
        dialler.dropAll()
        schedule.apply(gatewaySettings, outdated: connections)
        retireAll()
    }

    /// Uses this provider token on all present and future connections.
    package func renew(_ token: [UInt8], generation: UInt32) {
        gatewaySettings?.providerToken = token
        gatewaySettings?.generation = generation
        for connection in connections { connection.renew(token, generation: generation) }
    }

    /// Sets the wanted number of connections. Surplus connections take no more pushes, and close when all their pushes
    /// have outcomes.
    package func setWanted(_ count: Int) {
        wanted = count
        let live = connections.filter { !$0.isRetired && !isExtra($0) }
        guard live.count > count else { return }
        // Retire the connections with the fewest open pushes, because they close soonest.
        for connection in live.sorted(by: { $0.openStreams < $1.openStreams }).prefix(live.count - count) {
            connection.retire()
        }
    }

    /// Retires every connection; later pushes get new connections.
    package func retireAll() {
        for connection in connections { connection.retire() }
    }

    /// Closes every connection at once.
    package func closeAll() {
        (gatewaySettings, strategy) = (nil, nil)
        dialler.dropAll()
        for connection in connections { connection.close() }
    }

    /// Counts recent 429 responses as gateway trouble. Called when the gateway throttles several devices.
    package func slowDownForThrottling() {
        for connection in connections { connection.slowDownForThrottling() }
    }

    // MARK: Numbers

    /// `count` is the number of connections that take pushes, without the extra connection for high priority. `limit`
    /// is the maximum number of pushes in flight on these `count` connections.
    package var live: (count: Int, limit: Int) {
        var sum = (count: 0, limit: 0)
        for connection in connections where !connection.isRetired && !isExtra(connection) {
            sum.count += 1
            sum.limit += connection.limit
        }
        return sum
    }

    /// The number of bytes written on all connections so far.
    package var bytesWritten: Int { connections.reduce(bytesBefore) { $0 + $1.bytesWritten } }

    /// Returns the response times of the gateway since the last call.
    package func takeLatencies() -> LatencyCounts {
        var sum = latenciesBefore
        latenciesBefore = LatencyCounts()
        for connection in connections {
            if let latencies = connection.takeLatencies() { sum.add(latencies) }
        }
        return sum
    }

    package var openStreams: Int { connections.reduce(0) { $0 + $1.openStreams } }

    /// The maximum number of pushes in flight on all connections together.
    package var limit: Int { connections.reduce(0) { $0 + $1.limit } }

    /// Whether some connection sends less than its gateway allows, because the gateway had trouble.
    package var isSlowed: Bool { connections.contains { $0.isSlowed } }

    /// Returns whether the gateway has lowered the stream limit of a connection since the last call.
    package func takeLowered() -> Bool { connections.reduce(false) { $1.takeLowered() || $0 } }

    /// The number of dials since the start, successful or not.
    package var dials: Int { dialler.begun }

    /// The number of dials in progress.
    package var dialling: Int { dialler.inProgress }

    /// Whether the open connections and the dials in progress are fewer than the wanted connections.
    package var isShort: Bool { live.count + dialling < wanted + (lacksExtra ? 1 : 0) }

    /// The number of pushes that the worker may hold for connections that are being dialled and for one further
    /// connection.
    ///
    /// Over HTTP/2 the number is 0, because pushes need no further connection: streams become free within milliseconds.
    /// The window of a binary connection can stay full for seconds.
    package var headroom: Int { demand?.headroom ?? 0 }

    /// The maximum number of pushes that have send credit and are not reported yet. If the worker crashes, the outcomes
    /// of these pushes are unknown.
    package var window: Int { strategy?.window(in: self) ?? Self.leastWindow }

    /// Tells the strategy how many pushes the worker has checked out, so that several connections to a binary gateway
    /// can share these pushes.
    package func share(_ pushes: @autoclosure () -> Int) {
        strategy?.share(pushes(), over: allowed)
    }

    /// Whether the gateway has accepted connections for some time without responding to any push.
    package var isStalled: Bool {
        let responds = connections.contains { $0.hasMadeProgress && !$0.isRetired && !$0.refusesStreams }
        return !responds && (schedule.uselessInARow >= 3 || connections.contains { $0.refusesStreams })
    }

    /// The number of consecutive dials that the gateway ended by a TLS alert, because it rejects the client
    /// certificate.
    package var refusalsInARow: Int { schedule.refusalsInARow }

    /// Whether no connection is dialled for a while, because a dial or a connection has failed.
    var hasFailed: Bool { schedule.hasFailed }

    /// The maximum number of connections allowed now.
    var allowed: Int { min(most, gatewaySettings?.connections ?? 0) }

    /// The shortest duration of the last successful dials; nil if no dial has succeeded yet.
    var fastestDial: Duration? { dialler.fastest }

    private var demand: ConnectionDemand? { strategy?.demand(in: self) }

    private func isExtra(_ connection: any GatewayConnection) -> Bool {
        strategy?.isExtra(connection) ?? false
    }

    private var lacksExtra: Bool { strategy?.lacksExtra(in: self) ?? false }

    // MARK: Dialling

    /// Whether a binary gateway may get another connection now, if there are pushes for it.
    package var mayGrow: Bool {
        let mayDial =
            !schedule.isPausing || schedule.hasFailed && schedule.hasServedSinceFailure(connections)
        return mayDial && (demand?.free ?? 0) > 0
    }

    /// Dials connections for waiting pushes, if connections are missing and not too many dials are in progress.
    ///
    /// - Parameter waiting: the number of pushes without room on any connection. A binary gateway gets as many
    ///   connections as these pushes need. It also gets connections for open pushes that will probably return
    ///   unprocessed and be sent again.
    /// - Returns: true if a dial has begun, or if no dial will begin for a long time. In both cases, the worker may now
    ///   send or check out a different number of pushes.
    @discardableResult
    package func needConnection(for waiting: Int = 1) -> Bool {
        guard let gatewaySettings else { return false }
        schedule.endPauseIfServed(by: connections)
        let most = min(allowed, wanted + (lacksExtra ? 1 : 0))
        let isProven = connections.contains { $0.isProven }
        let atOnce =
            schedule.isTroubled(connections)
            ? 1 : gatewaySettings.wire.dialsAtOnce.map { isProven ? $0 : 1 } ?? gatewaySettings.connections
        var remaining = demand?.dials(for: waiting) ?? max(0, min(atOnce, most - live.count) - dialling)
        var hasChanged = false
        while remaining > 0, !schedule.isPausing, dialling < atOnce {
            guard schedule.takeDial(at: .now) else { return hasChanged || schedule.isLongPause }
            (remaining, hasChanged) = (remaining - 1, true)
            dialler.dial(gatewaySettings) { [self] in dialEnded($0, by: gatewaySettings) }
        }
        return hasChanged
    }

    private func dialEnded(_ result: Result<ByteStream, TransportError>, by gatewaySettings: GatewaySettings)
    {
        switch result {
        case .success(let stream):
            guard let owner else { return stream.close() }
            adopt(stream, by: gatewaySettings, for: owner)
        case .failure(let error):
            var refused = false
            if case .tls(.alert) = error { refused = true }
            dialFailed("\(error)", refusedByPeer: refused)
        }
    }

    private func adopt(_ stream: ByteStream, by gatewaySettings: GatewaySettings, for owner: any Owner) {
        if let chosen = stream.applicationProtocol, chosen != gatewaySettings.wire.applicationProtocol {
            stream.close()
            let wanted = gatewaySettings.wire.applicationProtocol ?? "none"
            return dialFailed("the gateway chose the protocol \(chosen), not \(wanted)", refusedByPeer: false)
        }
        guard let strategy,
            let connection = strategy.connect(stream, by: gatewaySettings, in: self, for: owner)
        else { return stream.close() }
        connections.append(connection)
        schedule.recordOpened(connection)
        strategy.added(connection, for: owner)
    }

    private func dialFailed(_ reason: String, refusedByPeer: Bool) {
        schedule.recordFailure(refusedByPeer: refusedByPeer, connections: connections)
        owner?.dialFailed(reason, refusedByPeer: refusedByPeer)
    }

    // MARK: The end of connections

    /// Notes that a connection takes no more pushes; the connection may await responses for a long time. If the
    /// connection was useless, the next dial is delayed. Without the delay, a gateway that sends GOAWAY on every
    /// connection would be dialled in a loop.
    package func connectionRetired(_ connection: any GatewayConnection) {
        guard let strategy, strategy.isUseless(connection) else { return }
        schedule.recordUseless(connection, connections: connections)
    }

    /// Removes a closed connection.
    package func remove(_ connection: any GatewayConnection, reason: String) {
        connections.removeAll { $0 === connection }
        bytesBefore += connection.bytesWritten
        if let latencies = connection.takeLatencies() { latenciesBefore.add(latencies) }
        if schedule.recordEnd(of: connection, connections: connections) {
            dialFailed(reason, refusedByPeer: true)
        }
    }
}
