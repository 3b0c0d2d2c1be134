import BinaryProtocol
import EventLoop
import FarmPolicy
import Transport

/// Opens as many binary connections as the pushes need, and keeps what all connections have measured about the gateway.
@Loop final class BinaryStrategy: ConnectionStrategy {
    private let settings: BinarySettings
    private let profile: BinaryGatewayProfile
    private weak var reserved: (any GatewayConnection)?

    init(_ settings: BinarySettings) {
        self.settings = settings
        profile = BinaryGatewayProfile(settings)
    }

    func connect(
        _ stream: ByteStream, by gatewaySettings: GatewaySettings, in pool: ConnectionPool,
        for listener: any GatewayListener
    ) -> (any GatewayConnection)? {
        // The dial may have begun because another connection was expected to end. If that connection is still open, the
        // new connection would exceed the limit.
        guard pool.connections.count(where: { !$0.isRetired }) < pool.allowed else { return nil }
        let connection = BinaryConnection(
            over: stream, settings: settings, profile: profile, generation: gatewaySettings.generation,
            timeout: gatewaySettings.requestTimeout, listener: listener)
        if !pool.connections.isEmpty, reserved.map({ $0.isRetired }) ?? true { reserved = connection }
        return connection
    }

    /// Reports room at once, because a binary gateway accepts pushes before it has sent anything to the client.
    func added(_ connection: any GatewayConnection, for listener: any GatewayListener) {
        listener.roomAvailable(on: connection)
    }

    func reservedConnection(among connections: [any GatewayConnection]) -> (any GatewayConnection)? {
        if reserved.map({ $0.isRetired }) ?? true { reserved = idle(of: connections) }
        return reserved
    }

    func releaseReservedConnection() { reserved = nil }

    /// Returns false, because connections are opened only as needed, so no connection is surplus.
    func setMixed(_ isMixed: Bool) -> Bool { false }

    func isExtra(_ connection: any GatewayConnection) -> Bool { false }

    func lacksExtra(in pool: ConnectionPool) -> Bool { false }

    /// Returns a connection without open pushes; nil if all connections have open pushes, or if there is only one
    /// connection.
    private func idle(of connections: [any GatewayConnection]) -> (any GatewayConnection)? {
        guard connections.count(where: { !$0.isRetired }) > 1 else { return nil }
        return connections.first { !$0.isRetired && $0.openStreams == 0 }
    }

    func demand(in pool: ConnectionPool) -> ConnectionDemand? {
        let now = ContinuousClock.now
        let dialDone = pool.fastestDial.map { now + $0 }
        var demand = ConnectionDemand(
            most: pool.allowed, dialling: pool.dialling, share: profile.windowLimit.share,
            part: profile.part)
        var returning = 0
        for connection in pool.connections where !connection.isRetired {
            demand.live += 1
            returning += profile.windowLimit.returning(of: connection.openStreams)
            // A connection that is still open after its expected end most likely has no bad token in its window, so
            // it is not counted as ending.
            if let dialDone, let end = connection.expectedEnd, now < end, end <= dialDone {
                demand.ending += 1
            }
        }
        demand.returning = max(0, returning)
        return demand
    }

    func share(_ pushes: @autoclosure () -> Int, over connections: Int) {
        guard profile.windowLimit.isRefusing else { return }
        profile.waiting = (pushes(), connections)
    }

    /// The number of pushes that the present connections and possible further connections can take. The worker needs no
    /// additional pushes for fast responses, because pushes stay in a connection's window for seconds.
    func window(in pool: ConnectionPool) -> Int {
        let room = pool.limit + (demand(in: pool)?.headroom ?? 0)
        // Bulk pushes may use seven eighths of the window. Bulk pushes alone must be able to fill the connections,
        // because the next connection is dialled only when the connections are full.
        return min(max(room * 8 / 7 + 1, ConnectionPool.leastWindow), settings.window)
    }

    /// Returns false, because the end of a connection by a bad token is not a failure.
    func isUseless(_ retired: any GatewayConnection) -> Bool { false }
}
