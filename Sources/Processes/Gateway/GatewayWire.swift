package import BinaryProtocol
import EventLoop

/// What a gateway speaks, and how connections to it differ from those to others.
///
/// Everything else is the same for all gateways. A further push service is one more value, with a strategy and a connection of its
/// own, or with those of HTTP/2 and a ``StreamService``.
package struct GatewayWire: Sendable {
    /// What TLS negotiates (ALPN); nil: nothing.
    package let applicationProtocol: String?
    /// All its pushes go to the topic of the certificate, whatever the job says.
    package let hasOneTopic: Bool
    /// The pool makes connections as pushes need them; otherwise the governor chooses their number.
    package let growsByItself: Bool
    /// In the long run a connection is made again no more often than this: gateways take clients that reconnect rapidly for an
    /// attack.
    let shortestLife: Duration
    /// Connections that one worker may dial in a minute; nil: any number.
    let dialsPerMinute: Int?
    /// Connections that may be dialled at a time when the gateway has taken our credentials, and one before; nil: all that there
    /// may be.
    let dialsAtOnce: Int?
    /// Makes a strategy for the connections of one plan.
    let makeStrategy: @Loop @Sendable () -> any ConnectionStrategy

    /// APNs over HTTP/2.
    package static let http2 = GatewayWire(
        applicationProtocol: "h2", hasOneTopic: false, growsByItself: false,
        shortestLife: .milliseconds(400), dialsPerMinute: nil, dialsAtOnce: 4
    ) {
        StreamStrategy { APNsConnection(over: $0, $1, listener: $2) }
    }

    /// The binary interface of APNs: a dial may take seconds, and each bad token ends a connection.
    package static func binary(_ settings: BinarySettings) -> GatewayWire {
        GatewayWire(
            applicationProtocol: nil, hasOneTopic: true, growsByItself: true,
            shortestLife: .milliseconds(100), dialsPerMinute: settings.dialsPerMinute, dialsAtOnce: nil
        ) {
            BinaryStrategy(settings)
        }
    }
}
