import EventLoop
import FarmPolicy
import Transport

/// How a pool makes and uses the connections of one wire; one for each plan.
///
/// A pool asks it once for a batch or a turn, never for a push.
@Loop protocol ConnectionStrategy: AnyObject {
    /// Makes a connection of a stream that is connected and whose TLS handshake is done.
    ///
    /// - Returns: nil when there are enough connections without it.
    func connect(
        _ stream: ByteStream, by plan: GatewayPlan, in pool: ConnectionPool, for listener: any GatewayListener
    ) -> (any GatewayConnection)?
    /// A connection was added to the pool.
    func added(_ connection: any GatewayConnection, for listener: any GatewayListener)

    /// Of several connections, the one that is kept free of bulk: a push of high priority would wait behind all that a campaign has
    /// put before the gateway, and over the binary interface for the reply to its bad tokens.
    ///
    /// - Returns: nil when there is none.
    func calmConnection(among connections: [any GatewayConnection]) -> (any GatewayConnection)?
    /// Bulk needs the calm connection: the next one that is made is to be calm.
    func releaseCalmConnection()
    /// Whether both lanes are sent.
    ///
    /// - Returns: whether there may be one connection too many now.
    func setMixed(_ isMixed: Bool) -> Bool
    /// The connection is kept for high priority in addition to those that the governor wants.
    func isExtra(_ connection: any GatewayConnection) -> Bool
    /// Such a connection is missing.
    func lacksExtra(in pool: ConnectionPool) -> Bool

    /// What connections there are and how many are needed; nil when the governor chooses their number.
    func demand(in pool: ConnectionPool) -> ConnectionDemand?
    /// Connections share so many held pushes.
    func share(_ pushes: @autoclosure () -> Int, over connections: Int)
    /// Pushes that may be granted and unreported: see ``ConnectionPool/window``.
    func window(in pool: ConnectionPool) -> Int
    /// A connection that takes no more pushes was of no use: the next one is not dialled at once.
    func isUseless(_ spent: any GatewayConnection) -> Bool
}
