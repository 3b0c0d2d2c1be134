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
}
