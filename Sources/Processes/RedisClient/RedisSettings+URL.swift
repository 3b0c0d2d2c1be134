import OpenSSL

extension RedisSettings {
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
