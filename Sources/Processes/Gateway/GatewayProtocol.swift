package import BinaryProtocol
import EventLoop

/// A gateway protocol, and the properties that distinguish its connections.
///
/// All other code is the same for all gateways. A new push service adds one value, with its own strategy and connection, or with
/// those of HTTP/2 and a ``StreamService``.
package struct GatewayProtocol: Sendable {
    /// The protocol that TLS negotiates (ALPN); nil means no negotiation.
    package let applicationProtocol: String?
    /// Whether all pushes use the topic of the certificate, even if the job names another one.
    package let hasOneTopic: Bool
    /// Whether the pool opens connections as pushes need them; otherwise the governor chooses their number.
    package let growsByItself: Bool
    /// The minimum mean time between reconnects of a connection, because gateways treat rapid reconnects as an attack.
    let shortestLife: Duration
    /// The number of connections that one worker may dial per minute; nil means unlimited.
    let dialsPerMinute: Int?
    /// The number of concurrent dials once the gateway has accepted the credentials; before that only one. nil means as many as
    /// connections are allowed.
    let dialsAtOnce: Int?
    /// Creates a strategy for the connections of one plan.
    let makeStrategy: @Loop @Sendable () -> any ConnectionStrategy

    /// APNs over HTTP/2.
    package static let http2 = GatewayProtocol(
        applicationProtocol: "h2", hasOneTopic: false, growsByItself: false,
        shortestLife: .milliseconds(400), dialsPerMinute: nil, dialsAtOnce: 4
    ) {
        StreamStrategy { APNsConnection(over: $0, $1, listener: $2) }
    }

    /// The binary interface of APNs, where a dial may take seconds and each bad token ends a connection.
    package static func binary(_ settings: BinarySettings) -> GatewayProtocol {
        GatewayProtocol(
            applicationProtocol: nil, hasOneTopic: true, growsByItself: true,
            shortestLife: .milliseconds(100), dialsPerMinute: settings.dialsPerMinute, dialsAtOnce: nil
        ) {
            BinaryStrategy(settings)
        }
    }
}
