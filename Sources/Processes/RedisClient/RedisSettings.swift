package import OpenSSL

/// How a process calls Redis.
package struct RedisSettings {
    package var address: RedisAddress
    /// For rediss://.
    package var tls: TLSContext?
    /// Shown by CLIENT LIST, such as "pushfarm-worker-4711"; without spaces.
    package var clientName: String
    /// For an answer, on top of the time that a call blocks by itself.
    package var timeout: Duration = .seconds(5)
    /// For connecting, TLS and logging in together.
    package var connectTimeout: Duration = .seconds(5)

    /// A user who may not load scripts has a connection all the same: some requests need none.
    package var toleratesNoScripts = false

    package init(address: RedisAddress, tls: TLSContext? = nil, clientName: String) {
        (self.address, self.tls, self.clientName) = (address, tls, clientName)
    }

    /// - Parameters:
    ///   - url: with its password, if any.
    ///   - authority: CA certificates in PEM to trust for rediss://; empty trusts the system's.
    /// - Throws: ``RedisAddressError``, or what is wrong with the CA.
    package init(url: String, authority: [UInt8], clientName: String) throws {
        let address = try RedisAddress(url)
        var tls: TLSContext?
        if address.usesTLS {
            tls = try TLSContext(
                client: ClientSettings(trust: authority.isEmpty ? .system : .authorities(authority)))
        }
        self.init(address: address, tls: tls, clientName: clientName)
    }
}
