package import BinaryProtocol
import EventLoop
import FarmPolicy

/// What a gateway speaks, and how connections to it differ from those to others.
///
/// Everything else is the same for all gateways. A further push service is one more type that conforms, with a strategy and a
/// connection of its own, or with those of HTTP/2 and a ``StreamService``.
package protocol GatewayWire: Sendable {
    /// What TLS negotiates (ALPN); nil: nothing.
    var applicationProtocol: String? { get }
    /// All its pushes go to the topic of the certificate, whatever the job says.
    var hasOneTopic: Bool { get }
    /// The pool makes connections as pushes need them; otherwise the governor chooses their number.
    var growsByItself: Bool { get }
    /// In the long run a connection is made again no more often than this: gateways take clients that reconnect rapidly for an
    /// attack.
    var shortestLife: Duration { get }
    /// Connections that one worker may dial in a minute; nil: any number.
    var dialsPerMinute: Int? { get }

    /// Connections that may be dialled at a time.
    ///
    /// - Parameters:
    ///   - isProven: the gateway takes our credentials.
    ///   - connections: the most that there may be.
    func dialsAtOnce(isProven: Bool, connections: Int) -> Int

    /// A strategy for the connections of one plan.
    @Loop func makeStrategy() -> any ConnectionStrategy
}

/// APNs over HTTP/2.
package struct APNsWire: GatewayWire {
    package var applicationProtocol: String? { "h2" }
    package var hasOneTopic: Bool { false }
    package var growsByItself: Bool { false }
    package var shortestLife: Duration { .milliseconds(400) }
    package var dialsPerMinute: Int? { nil }

    package func dialsAtOnce(isProven: Bool, connections: Int) -> Int { isProven ? 4 : 1 }

    @Loop package func makeStrategy() -> any ConnectionStrategy {
        StreamStrategy { stream, plan, listener in
            APNsConnection(
                over: stream, authority: plan.authority, providerToken: plan.providerToken,
                generation: plan.generation, requestTimeout: plan.requestTimeout,
                streams: plan.maxStreams, keepAlive: plan.keepAlive, listener: listener)
        }
    }
}

/// The binary interface of APNs.
package struct BinaryWire: GatewayWire {
    package let settings: BinarySettings

    package init(_ settings: BinarySettings) { self.settings = settings }

    package var applicationProtocol: String? { nil }
    package var hasOneTopic: Bool { true }
    package var growsByItself: Bool { true }
    /// Each bad token ends a connection; ``BinarySettings/dialsPerMinute`` bounds the dials as well.
    package var shortestLife: Duration { .milliseconds(100) }
    package var dialsPerMinute: Int? { settings.dialsPerMinute }

    /// All at once: a dial may take seconds.
    package func dialsAtOnce(isProven: Bool, connections: Int) -> Int { connections }

    @Loop package func makeStrategy() -> any ConnectionStrategy { BinaryStrategy(settings) }
}

extension GatewayWire where Self == APNsWire {
    package static var http2: APNsWire { APNsWire() }
}

extension GatewayWire where Self == BinaryWire {
    package static func binary(_ settings: BinarySettings) -> BinaryWire { BinaryWire(settings) }
}
