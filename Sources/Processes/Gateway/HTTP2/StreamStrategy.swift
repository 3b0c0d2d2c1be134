package import EventLoop
package import FarmPolicy
package import Transport

/// Connections over HTTP/2, as many as the governor wants, and one more for high priority while both lanes are sent.
@Loop package final class StreamStrategy: ConnectionStrategy {
    private weak var extra: (any GatewayConnection)?
    private var isMixed = false
    /// The most pushes of one connection whose outcome a lost worker may make unknown.
    private static let mostOfConnection = 2000

    /// Makes a connection of a stream whose TLS handshake is done.
    private let makeConnection: @Loop (ByteStream, GatewayPlan, any GatewayListener) -> any GatewayConnection

    package init(
        _ makeConnection:
            @escaping @Loop (ByteStream, GatewayPlan, any GatewayListener) -> any GatewayConnection
    ) {
        self.makeConnection = makeConnection
    }

    package func connect(
        _ stream: ByteStream, by plan: GatewayPlan, in pool: PoolState, for listener: any GatewayListener
    ) -> (any GatewayConnection)? {
        let connection = makeConnection(stream, plan, listener)
        if lacksExtra(in: pool), living(in: pool) > 0 { extra = connection }
        return connection
    }

    /// There is room when the gateway's settings have come.
    package func added(_ connection: any GatewayConnection, for listener: any GatewayListener) {}

    // MARK: The calm connection

    package func calmConnection(among connections: [any GatewayConnection]) -> (any GatewayConnection)? {
        if let extra, extra.isSpent { self.extra = nil }
        return extra
    }

    package func releaseCalmConnection() { extra = nil }

    package func setMixed(_ isMixed: Bool) -> Bool {
        self.isMixed = isMixed
        if !isMixed { extra = nil }
        return !isMixed
    }

    package func isExtra(_ connection: any GatewayConnection) -> Bool { isMixed && connection === extra }

    package func lacksExtra(in pool: PoolState) -> Bool {
        guard isMixed, living(in: pool) < pool.most else { return false }
        return extra.map { $0.isSpent } ?? true
    }

    private func living(in pool: PoolState) -> Int {
        pool.connections.count { !$0.isSpent && !isExtra($0) }
    }

    // MARK: Numbers

    package func demand(in pool: PoolState) -> ConnectionDemand? { nil }

    package func share(_ pushes: @autoclosure () -> Int, over connections: Int) {}

    /// As many as the connections have room for, and as many again, which are held for when responses come all at once, or whose
    /// results are on their way to Redis; but no more than 2,000 for a connection.
    package func window(in pool: PoolState) -> Int {
        max(
            pool.connections.reduce(0) {
                isExtra($1) ? $0 : $0 + min(2 * $1.limit, Self.mostOfConnection)
            },
            PoolState.leastWindow)
    }

    package func isUseless(_ spent: any GatewayConnection) -> Bool { !spent.hasMadeProgress }
}
