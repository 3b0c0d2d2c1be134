package import OpenSSL

/// The settings of a process's connection to Redis.
package struct RedisSettings {
    package var address: RedisAddress
    /// The TLS settings for a rediss:// address.
    package var tls: TLSContext?
    /// The client's name in CLIENT LIST, without spaces, such as "pushfarm-worker-4711".
    package var clientName: String
    /// The timeout for a reply. If a command blocks, its blocking time is added.
    package var timeout: Duration = .seconds(5)
    /// The timeout for connecting, TLS and login together.
    package var connectTimeout: Duration = .seconds(5)

    /// Whether a connection is possible for a Redis user who may not load scripts. This user can only make requests
    /// that need no scripts.
    package var toleratesNoScripts = false

    package init(address: RedisAddress, tls: TLSContext? = nil, clientName: String) {
        (self.address, self.tls, self.clientName) = (address, tls, clientName)
    }

    /// - Parameters:
    ///   - url: the address of Redis, with its password if there is one.
    ///   - trustedCA: the CA certificates in PEM that are trusted for rediss://; empty means the system's CA
    ///     certificates.
    /// - Throws: ``RedisAddressError``, or the fault of the CA certificates.
    package init(url: String, trustedCA: [UInt8], clientName: String) throws {
        let address = try RedisAddress(url)
        var tls: TLSContext?
        if address.usesTLS {
            tls = try TLSContext(
                client: ClientSettings(trust: trustedCA.isEmpty ? .system : .authorities(trustedCA)))
        }
        self.init(address: address, tls: tls, clientName: clientName)
    }
}
