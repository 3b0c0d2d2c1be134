/// How much an app makes of its gateway, in each worker: connections, streams, rates, and how connections are made.
///
/// Names and meaning are those that users of go-apns know.
package struct GatewayUse: Sendable, Equatable {
    /// By how much the number of connections changes at a time.
    package enum Scale: Sendable, Equatable {
        case incremental(Int)
        case exponential(Double)
        case constant
    }

    package var minConnections = 1
    package var maxConnections = 8
    /// Streams of a connection; nil: as many as the gateway allows.
    package var maxStreams: Int?
    /// Pushes a second; nil: any number.
    package var maxRate: Double?
    /// Bits a second; nil: any number.
    package var maxBandwidth: Double?
    package var scale = Scale.incremental(1)
    /// For so long streams must be short, or a step less enough, before the number of connections changes.
    package var minSustain: Duration = .seconds(2)
    /// Between two looks.
    package var pollInterval: Duration = .milliseconds(200)
    /// For so long nothing is decided after a change.
    package var settlePeriod: Duration = .seconds(4)
    package var dialTimeout: Duration = .seconds(10)
    /// The pause after a first failed dial; it doubles with each further one.
    package var minDialBackOff: Duration = .milliseconds(500)
    /// With a binary gateway three minutes unless given.
    package var maxDialBackOff: Duration = .seconds(10)
    /// The part of a pause that is random, 0...1.
    package var dialBackOffJitter = 0.5
    /// A connection on which nothing came for so long is asked whether it is still there; nil: it is not.
    package var keepAlive: Duration? = .seconds(3600)

    package init() {}
}
