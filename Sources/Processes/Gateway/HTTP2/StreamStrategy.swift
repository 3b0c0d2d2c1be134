import EventLoop
import FarmPolicy
import Transport

/// Keeps as many HTTP/2 connections as the governor wants. While pushes of both lanes are sent, the strategy keeps one
/// more connection for high priority.
@Loop final class StreamStrategy: ConnectionStrategy {
    private weak var extra: (any GatewayConnection)?
    private var isMixed = false
    /// The maximum number of pushes per connection that a worker may send before their outcomes are reported. If the
    /// worker crashes, the outcomes of these pushes are unknown.
    private static let mostOfConnection = 2000

    /// Creates a connection from a stream whose TLS handshake is complete.
    typealias MakeConnection =
        @Loop (ByteStream, StreamSettings, any GatewayListener) -> any GatewayConnection
    private let makeConnection: MakeConnection

    init(_ makeConnection: @escaping MakeConnection) { self.makeConnection = makeConnection }

    func connect(
        _ stream: ByteStream, by gatewaySettings: GatewaySettings, in pool: ConnectionPool,
        for listener: any GatewayListener
    ) -> (any GatewayConnection)? {
        let settings = StreamSettings(
            authority: gatewaySettings.authority, providerToken: gatewaySettings.providerToken,
            generation: gatewaySettings.generation,
            requestTimeout: gatewaySettings.requestTimeout, streams: gatewaySettings.maxStreams,
            keepAlive: gatewaySettings.keepAlive)
        let connection = makeConnection(stream, settings, listener)
        if lacksExtra(in: pool), live(in: pool) > 0 { extra = connection }
        return connection
    }

    /// Does nothing, because a connection has room only after the gateway's SETTINGS have arrived.
    func added(_ connection: any GatewayConnection, for listener: any GatewayListener) {}

    func reservedConnection(among connections: [any GatewayConnection]) -> (any GatewayConnection)? {
        if let extra, extra.isRetired { self.extra = nil }
        return extra
    }

    func releaseReservedConnection() { extra = nil }

    func setMixed(_ isMixed: Bool) -> Bool {
        self.isMixed = isMixed
        if !isMixed { extra = nil }
        return !isMixed
    }

    func isExtra(_ connection: any GatewayConnection) -> Bool { isMixed && connection === extra }

    func lacksExtra(in pool: ConnectionPool) -> Bool {
        guard isMixed, live(in: pool) < pool.allowed else { return false }
        return extra.map { $0.isRetired } ?? true
    }

    private func live(in pool: ConnectionPool) -> Int {
        pool.connections.count { !$0.isRetired && !isExtra($0) }
    }

    func demand(in pool: ConnectionPool) -> ConnectionDemand? { nil }

    func share(_ pushes: @autoclosure () -> Int, over connections: Int) {}

    /// Twice the number of pushes that the connections may have in flight, but at most 2,000 pushes per connection.
    /// The additional pushes are ready when a burst of responses frees streams, or replace pushes whose outcomes are
    /// being reported to Redis.
    func window(in pool: ConnectionPool) -> Int {
        max(
            pool.connections.reduce(0) {
                isExtra($1) ? $0 : $0 + min(2 * $1.limit, Self.mostOfConnection)
            },
            ConnectionPool.leastWindow)
    }

    func isUseless(_ retired: any GatewayConnection) -> Bool { !retired.hasMadeProgress }
}
