import EventLoop
import FarmPolicy
import Transport

/// Opens and uses a pool's connections over one protocol. Each `GatewaySettings` gets its own strategy.
///
/// The pool calls the strategy once per batch or turn, never per push.
@Loop protocol ConnectionStrategy: AnyObject {
    /// Creates a connection from a connected stream whose TLS handshake is complete.
    ///
    /// - Returns: the connection; nil if the pool already has enough connections.
    func connect(
        _ stream: ByteStream, by gatewaySettings: GatewaySettings, in pool: ConnectionPool,
        for listener: any GatewayListener
    ) -> (any GatewayConnection)?
    /// Notes that a connection was added to the pool.
    func added(_ connection: any GatewayConnection, for listener: any GatewayListener)

    /// Chooses the connection to reserve for the high lane if there are several connections. On another connection, a
    /// push of high priority could wait behind bulk pushes. Over the binary interface, it could also wait for the reply
    /// to a bulk push with a bad token.
    ///
    /// - Returns: the reserved connection; nil if no connection is reserved.
    func reservedConnection(among connections: [any GatewayConnection]) -> (any GatewayConnection)?
    /// Allows bulk pushes on the reserved connection. The next new connection becomes the reserved connection.
    func releaseReservedConnection()
    /// Sets whether pushes of both lanes are sent.
    ///
    /// - Returns: whether there may be a surplus connection now.
    func setMixed(_ isMixed: Bool) -> Bool
    /// Whether the connection is kept for high priority in addition to the connections that the governor wants.
    func isExtra(_ connection: any GatewayConnection) -> Bool
    /// Whether the extra connection for high priority is missing.
    func lacksExtra(in pool: ConnectionPool) -> Bool

    /// Returns the number of present connections and the need for more connections; nil if the governor chooses the
    /// number of connections.
    func demand(in pool: ConnectionPool) -> ConnectionDemand?
    /// Tells the strategy how many pushes the worker has checked out, so that several connections can share these
    /// pushes.
    func share(_ pushes: @autoclosure () -> Int, over connections: Int)
    /// The maximum number of pushes that have send credit and are not reported yet: see ``ConnectionPool/window``.
    func window(in pool: ConnectionPool) -> Int
    /// Whether a connection that takes no more pushes was useless. If so, the pool delays the next dial.
    func isUseless(_ retired: any GatewayConnection) -> Bool
}
