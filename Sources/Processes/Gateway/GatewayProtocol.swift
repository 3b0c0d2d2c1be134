package import BinaryProtocol
import EventLoop

/// A gateway protocol, with the properties in which its connections differ from connections over other protocols.
///
/// All other code is the same for all gateways. To support a new push service, add one value of this type. A service
/// over HTTP/2 uses ``StreamStrategy`` and needs a ``StreamService``; any other service needs its own strategy and
/// connection.
package struct GatewayProtocol: Sendable {
    /// The application protocol that TLS negotiates (ALPN); nil means no negotiation.
    package let applicationProtocol: String?
    /// Whether all pushes use the topic of the certificate, even if the job names another topic.
    package let hasOneTopic: Bool
    /// Whether the pool opens as many connections as the pushes need. If false, the governor chooses the number of
    /// connections.
    package let growsByItself: Bool
    /// The minimum mean time between two dials that replace the same connection. Gateways treat rapid reconnects as an
    /// attack.
    let shortestLife: Duration
    /// How many connections one worker may dial per minute; nil means no limit.
    let dialsPerMinute: Int?
    /// The maximum number of concurrent dials; nil means one dial for each allowed connection. If this value is not
    /// nil, only one dial runs at a time until the gateway has accepted the credentials.
    let dialsAtOnce: Int?
    /// Creates a strategy for the connections with the same settings.
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
