package import FarmPolicy
package import OpenSSL
package import Transport

/// Where an app's gateway is, what it speaks, and how connections to it are made.
package struct GatewayPlan {
    package var host: String
    package var port: UInt16
    package var proxy: Endpoint?
    package var tls: TLSContext
    /// `nil` when the TLS certificate speaks for us.
    package var providerToken: [UInt8]?
    package var generation: UInt32
    package var requestTimeout: Duration
    package var wire: GatewayWire
    /// Connections at most.
    package var connections: Int
    /// How many there are in fact.
    package var governor: GovernorSettings
    /// Streams of a connection, whatever the gateway allows.
    package var maxStreams = StreamBudget.usualCap
    package var dial = DialSettings()
    /// A connection on which nothing came for so long is asked whether it is still there; nil: it is not.
    package var keepAlive: Duration? = .seconds(3600)
    /// Where the gateway's Retry-After asks for more, so much counts.
    package var longestRetryAfter = Duration.seconds(600)
    /// Which of the gateway's addresses to try first; every worker has its own.
    package var firstAddress: Int

    package init(
        host: String, port: UInt16, proxy: Endpoint? = nil, tls: TLSContext, providerToken: [UInt8]?,
        generation: UInt32, requestTimeout: Duration, wire: GatewayWire = .http2, connections: Int,
        firstAddress: Int
    ) {
        self.host = host
        self.port = port
        self.proxy = proxy
        self.tls = tls
        self.providerToken = providerToken
        self.generation = generation
        self.requestTimeout = requestTimeout
        self.wire = wire
        self.connections = connections
        governor = GovernorSettings(connections: connections)
        self.firstAddress = firstAddress
    }

    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }
}
