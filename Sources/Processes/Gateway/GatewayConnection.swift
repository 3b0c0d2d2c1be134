package import APNs
package import EventLoop
package import FarmPolicy
package import PushModel

/// A live connection to a gateway over any protocol.
///
/// The listener gets the outcome of every sent push exactly once, at the latest after the push's deadline or the
/// end of the connection.
@Loop package protocol GatewayConnection: AnyObject {
    /// The number of pushes that may be sent now.
    var room: Int { get }
    /// The number of pushes that were sent and have no outcome yet.
    var openStreams: Int { get }
    /// The maximum number of pushes in flight.
    var limit: Int { get }
    /// How many pushes to send on this connection before another connection is chosen; at most ``room``.
    var sendShare: Int { get }
    /// Whether the connection has so many open pushes that the next push should use another connection with room.
    var isLoaded: Bool { get }
    /// The time by which a reply about a bad token will probably have ended the connection; nil if the farm expects no
    /// such reply.
    var expectedEnd: Instant? { get }
    /// Whether the connection takes no more pushes, although it may still await outcomes.
    var isRetired: Bool { get }
    /// Whether a response has proved that the gateway accepts the credentials.
    var isProven: Bool { get }
    /// Whether the connection sends less than the gateway allows, because the gateway had trouble.
    var isSlowed: Bool { get }
    /// Whether the gateway has for some time refused every stream without processing the push.
    var refusesStreams: Bool { get }
    /// Whether the gateway responded to a sufficient part of the connection's pushes, so that the connection was useful.
    var hasMadeProgress: Bool { get }
    /// The number of bytes written on this connection, without the overhead of TLS.
    var bytesWritten: Int { get }
    /// Whether a TLS alert ended the connection because the gateway rejects the client certificate. In TLS 1.3, this
    /// alert arrives after the handshake.
    var rejectedCertificate: Bool { get }

    /// Sends one push; requires ``room``. Token and payload must be valid during the call.
    /// - Returns: whether the connection took the push.
    func send(
        _ head: PushHead, token: UnsafeRawBufferPointer, id: PushID, payload: UnsafeRawBufferPointer,
        ticket: PushTicket, at now: Instant
    ) -> Bool
    /// Uses another provider token from the next push on.
    func renew(_ token: [UInt8], generation: UInt32)
    /// Counts recent 429 responses as gateway trouble. Called when the gateway throttles several devices.
    func slowDownForThrottling()
    /// Returns whether the gateway has lowered the stream limit of the connection since the last call.
    func takeLowered() -> Bool
    /// Returns the response times that were measured since the last call; nil if the gateway does not confirm accepted
    /// pushes.
    func takeLatencies() -> LatencyCounts?
    /// Takes no more pushes, awaits outstanding responses, and closes.
    func retire()
    /// Closes at once. Each open push gets its outcome if the outcome is known, else an unknown outcome.
    func close()
}

extension GatewayConnection {
    package var refusesStreams: Bool { false }
    package var hasMadeProgress: Bool { isProven }
    package var sendShare: Int { room }
    package var isLoaded: Bool { false }
    package var expectedEnd: Instant? { nil }
}

/// Receives the outcomes of pushes and the state of the connection. The loop calls the listener, but never during a
/// call of `send`.
@Loop package protocol GatewayListener: AnyObject {
    func completed(_ ticket: PushTicket, _ outcome: SendOutcome)
    /// The connection has room for pushes, or its limit has changed.
    func roomAvailable(on connection: any GatewayConnection)
    /// The connection takes no more pushes (GOAWAY), but still awaits the outcomes of open pushes. `verdict` says what
    /// the gateway's reason means for the credentials.
    func retired(_ connection: any GatewayConnection, reason: String, verdict: Verdict)
    /// The gateway did not accept `count` pushes that were already reported as delivered: it refused the first of these
    /// pushes, and discarded the pushes after it.
    func deliveredPushesLost(on connection: any GatewayConnection, count: Int, reason: String)
    /// The connection is closed, and every push has its outcome.
    func ended(_ connection: any GatewayConnection, reason: String)
}
