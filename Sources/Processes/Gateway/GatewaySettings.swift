package import FarmPolicy
package import OpenSSL
package import Transport

/// The address and protocol of an app's gateway, and the settings of connections to it.
package struct GatewaySettings {
    package var host: String
    package var port: UInt16
    package var proxy: Endpoint?
    package var tls: TLSContext
    /// The provider token; nil if a TLS certificate authenticates the app.
    package var providerToken: [UInt8]?
    package var generation: UInt32
    package var requestTimeout: Duration
    package var wire: GatewayProtocol
    /// The maximum number of connections.
    package var connections: Int
    /// The settings of the governor, which chooses the number of connections.
    package var governor: GovernorSettings
    /// The maximum number of streams per connection, even if the gateway allows more.
    package var maxStreams = StreamBudget.usualCap
    package var dial = DialSettings()
    /// How long the gateway may send nothing before a PING checks the connection; nil disables the check.
    package var keepAlive: Duration? = .seconds(3600)
    /// The maximum delay that the farm accepts from a Retry-After header of the gateway.
    package var longestRetryAfter = Duration.seconds(600)
    /// Selects the gateway address to try first. Different workers try different addresses first.
    package var firstAddress: Int

    package init(
        host: String, port: UInt16, proxy: Endpoint? = nil, tls: TLSContext, providerToken: [UInt8]?,
        generation: UInt32, requestTimeout: Duration, wire: GatewayProtocol = .http2, connections: Int,
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
