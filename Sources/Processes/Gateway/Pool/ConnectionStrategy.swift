import EventLoop
import FarmPolicy
import Transport

/// Opens and uses the connections of one protocol for a pool; each plan has its own strategy.
///
/// The pool calls it once per batch or turn, never per push.
@Loop protocol ConnectionStrategy: AnyObject {
    /// Creates a connection from a connected stream whose TLS handshake is complete.
    ///
    /// - Returns: nil when there are enough connections already.
    func connect(
        _ stream: ByteStream, by plan: GatewayPlan, in pool: ConnectionPool, for listener: any GatewayListener
    ) -> (any GatewayConnection)?
    /// Notes that a connection was added to the pool.
    func added(_ connection: any GatewayConnection, for listener: any GatewayListener)

    /// Chooses, among several connections, the one to keep free of bulk. On other connections, a push of high priority would wait
    /// behind a campaign's pushes, and over the binary interface for the reply to their bad tokens.
    ///
    /// - Returns: the connection; nil when there is none.
    func reservedConnection(among connections: [any GatewayConnection]) -> (any GatewayConnection)?
    /// Lets bulk use the reserved connection; the next new connection becomes the reserved one.
    func releaseReservedConnection()
    /// Sets whether both lanes are sent.
    ///
    /// - Returns: whether there may be a surplus connection now.
    func setMixed(_ isMixed: Bool) -> Bool
    /// Whether the connection is kept for high priority in addition to those that the governor wants.
    func isExtra(_ connection: any GatewayConnection) -> Bool
    /// Whether the extra connection for high priority is missing.
    func lacksExtra(in pool: ConnectionPool) -> Bool

    /// Returns the present connections and the need for more; nil when the governor chooses their number.
    func demand(in pool: ConnectionPool) -> ConnectionDemand?
    /// Divides held pushes among the connections.
    func share(_ pushes: @autoclosure () -> Int, over connections: Int)
    /// The number of pushes that may be granted and unreported: see ``ConnectionPool/window``.
    func window(in pool: ConnectionPool) -> Int
    /// Whether a connection that takes no more pushes was useless, so that the next dial is delayed.
    func isUseless(_ retired: any GatewayConnection) -> Bool
}
