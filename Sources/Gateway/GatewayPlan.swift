package import TLS
package import Transport

/// Where an app's gateway is and how to speak to it.
package struct GatewayPlan {
    package var host: String
    package var port: UInt16
    package var proxy: Endpoint?
    package var tls: TLSContext
    /// `nil` when the TLS certificate speaks for us.
    package var providerToken: [UInt8]?
    package var generation: UInt32
    package var requestTimeout: Duration
    /// Connections to keep while there is something to send.
    package var connections: Int
    /// Which of the gateway's addresses to try first; every worker has its own.
    package var firstAddress: Int

    package init(
        host: String, port: UInt16, proxy: Endpoint? = nil, tls: TLSContext, providerToken: [UInt8]?,
        generation: UInt32, requestTimeout: Duration, connections: Int, firstAddress: Int
    ) {
        self.host = host
        self.port = port
        self.proxy = proxy
        self.tls = tls
        self.providerToken = providerToken
        self.generation = generation
        self.requestTimeout = requestTimeout
        self.connections = connections
        self.firstAddress = firstAddress
    }

    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }
}
