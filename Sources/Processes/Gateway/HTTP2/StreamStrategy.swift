import EventLoop
import FarmPolicy
import Transport

/// Connections over HTTP/2, as many as the governor wants, and one more for high priority while both lanes are sent.
@Loop final class StreamStrategy: ConnectionStrategy {
    private weak var extra: (any GatewayConnection)?
    private var isMixed = false
    /// The most pushes of one connection whose outcome a lost worker may make unknown.
    private static let mostOfConnection = 2000

    /// Makes a connection of a stream whose TLS handshake is done.
    typealias MakeConnection =
        @Loop (ByteStream, StreamSettings, any GatewayListener) -> any GatewayConnection
    private let makeConnection: MakeConnection

    init(_ makeConnection: @escaping MakeConnection) { self.makeConnection = makeConnection }

    func connect(
        _ stream: ByteStream, by plan: GatewayPlan, in pool: ConnectionPool, for listener: any GatewayListener
    ) -> (any GatewayConnection)? {
        let settings = StreamSettings(
            authority: plan.authority, providerToken: plan.providerToken, generation: plan.generation,
            requestTimeout: plan.requestTimeout, streams: plan.maxStreams, keepAlive: plan.keepAlive)
        let connection = makeConnection(stream, settings, listener)
        if lacksExtra(in: pool), living(in: pool) > 0 { extra = connection }
        return connection
    }

    /// There is room when the gateway's settings have come.
    func added(_ connection: any GatewayConnection, for listener: any GatewayListener) {}

    func calmConnection(among connections: [any GatewayConnection]) -> (any GatewayConnection)? {
        if let extra, extra.isSpent { self.extra = nil }
        return extra
    }

    func releaseCalmConnection() { extra = nil }

    func setMixed(_ isMixed: Bool) -> Bool {
        self.isMixed = isMixed
        if !isMixed { extra = nil }
        return !isMixed
    }

    func isExtra(_ connection: any GatewayConnection) -> Bool { isMixed && connection === extra }

    func lacksExtra(in pool: ConnectionPool) -> Bool {
        guard isMixed, living(in: pool) < pool.allowed else { return false }
        return extra.map { $0.isSpent } ?? true
    }

    private func living(in pool: ConnectionPool) -> Int {
        pool.connections.count { !$0.isSpent && !isExtra($0) }
    }

    func demand(in pool: ConnectionPool) -> ConnectionDemand? { nil }

    func share(_ pushes: @autoclosure () -> Int, over connections: Int) {}

    /// As many as the connections have room for, and as many again, which are held for when responses come all at once, or whose
    /// results are on their way to Redis; but no more than 2,000 for a connection.
    func window(in pool: ConnectionPool) -> Int {
        max(
            pool.connections.reduce(0) {
                isExtra($1) ? $0 : $0 + min(2 * $1.limit, Self.mostOfConnection)
            },
            ConnectionPool.leastWindow)
    }

    func isUseless(_ spent: any GatewayConnection) -> Bool { !spent.hasMadeProgress }
}
