package import APNs
package import EventLoop
package import FarmPolicy
package import PushModel

/// A live connection to a gateway, whatever it speaks.
///
/// Every push that was sent comes back to the listener exactly once, with its outcome, at the latest when its
/// deadline has passed or the connection has ended.
@Loop package protocol GatewayConnection: AnyObject {
    /// Pushes that may be sent now.
    var room: Int { get }
    /// Pushes sent and without an outcome.
    var openStreams: Int { get }
    /// The most pushes that it allows to be open at a time.
    var limit: Int { get }
    /// Of ``room``, what is sent before another connection is looked for.
    var chunk: Int { get }
    /// It carries so much that another connection with room is better.
    var isLoaded: Bool { get }
    /// When a bad token has probably ended it; nil: not known.
    var expectedEnd: Instant? { get }
    /// It takes no more pushes, though it still awaits some outcomes.
    var isSpent: Bool { get }
    /// Some answer has proved that the gateway takes our credentials.
    var isProven: Bool { get }
    /// It sends less than the gateway allows, because the gateway was in trouble.
    var isSlowed: Bool { get }
    /// The gateway has refused every stream for a while, without acting on it.
    var isRefused: Bool { get }
    /// It was of use: the gateway responded to more than a first push beside many that it did not process.
    var hasMadeProgress: Bool { get }
    /// Bytes that it has written, without what TLS adds.
    var bytesWritten: Int { get }
    /// It was ended by a TLS alert: the gateway does not like our certificate. TLS 1.3 says so after the
    /// handshake.
    var wasRefused: Bool { get }

    /// Sends one push; only with ``room``. Token and payload are valid during the call.
    /// - Returns: whether the connection took it.
    func send(
        _ head: PushHead, token: UnsafeRawBufferPointer, id: PushID, payload: UnsafeRawBufferPointer,
        ticket: PushTicket, at now: Instant
    ) -> Bool
    /// Uses another provider token from the next push on.
    func renew(_ token: [UInt8], generation: UInt32)
    /// The gateway throttles several devices: what it throttled lately is trouble of its own.
    func slowDownForThrottling()
    /// Whether the gateway has lowered the number of streams since the last call.
    func takeLowered() -> Bool
    /// How long answers took since the last call; nil where a gateway does not say what it accepts.
    func takeLatencies() -> LatencyCounts?
    /// Takes no more pushes, awaits the answers that are due, and closes.
    func retire()
    /// Closes at once; the outcomes of open pushes are unknown.
    func close()
}

extension GatewayConnection {
    package var isRefused: Bool { false }
    package var hasMadeProgress: Bool { isProven }
    package var chunk: Int { room }
    package var isLoaded: Bool { false }
    package var expectedEnd: Instant? { nil }
}

/// Receives the outcomes of pushes and the state of the connection. Calls come from the loop, never from within `send`.
@Loop package protocol GatewayListener: AnyObject {
    func completed(_ ticket: PushTicket, _ outcome: SendOutcome)
    /// There is room for pushes, or the limit has changed.
    func hasRoom(_ connection: any GatewayConnection)
    /// It takes no more pushes (GOAWAY); it still awaits the outcomes of the open ones. `verdict` is what the gateway's note
    /// means for our credentials.
    func isSpent(_ connection: any GatewayConnection, reason: String, verdict: Verdict)
    /// So many pushes were reported as delivered, and the gateway says now that it did not accept them: one that it
    /// refused, and what came behind that, which is lost.
    func wasWrong(_ connection: any GatewayConnection, count: Int, reason: String)
    /// It is closed, and everything has its outcome.
    func ended(_ connection: any GatewayConnection, reason: String)
}
