/// The TLS versions that can be set as limits.
package enum TLSVersion: Sendable, Hashable, CaseIterable {
    case tls12
    case tls13
}

/// The authorities that a client trusts.
package enum Trust: Sendable, Hashable {
    case system
    /// Trusts only these certificates, as PEM. The certificates need not be roots.
    case authorities([UInt8])
    case authorityFile(String)
    /// Accepts every server: encryption without authentication.
    case unverified
}

/// Settings of the client side.
package struct ClientSettings: Sendable {
    package var trust: Trust = .system
    package var minimumVersion: TLSVersion = .tls12
    package var maximumVersion: TLSVersion = .tls13
    /// The protocol names for ALPN, best first. If the list is empty, the client sends no ALPN.
    package var applicationProtocols: [String] = []
    /// The client certificate, which is sent when the server asks for a certificate.
    package var identity: TLSIdentity?

    package init(
        trust: Trust = .system, applicationProtocols: [String] = [], identity: TLSIdentity? = nil
    ) {
        self.trust = trust
        self.applicationProtocols = applicationProtocols
        self.identity = identity
    }
}

/// Settings of the server side.
package struct ServerSettings: Sendable {
    /// The condition that a client certificate must meet for the handshake to succeed. Whatever the condition is, the server also
    /// makes a full check, and ``TLSSession/peerFault`` has the result of the full check.
    package enum Acceptance: Sendable, Hashable {
        case verified
        /// The certificate's chain leads to one of the authorities. Dates, purpose and unknown extensions are ignored.
        case chained
        /// Any certificate is accepted, also a certificate from an unknown authority.
        case anything
    }

    package enum ClientCertificates: Sendable, Hashable {
        case ignored
        /// The server asks for a certificate but also accepts clients without a certificate. `authorities` is PEM.
        case optional(authorities: [UInt8], Acceptance = .verified)
        case required(authorities: [UInt8], Acceptance = .verified)
    }

    package var identity: TLSIdentity
    package var minimumVersion: TLSVersion = .tls12
    package var maximumVersion: TLSVersion = .tls13
    /// The protocol names for ALPN, best first. A client that offers only other names is refused; a client without ALPN is
    /// accepted.
    package var applicationProtocols: [String] = []
    package var clientCertificates: ClientCertificates = .ignored
    /// The cipher suites of TLS 1.2 in OpenSSL's syntax, for tests of clients. If this is nil, a server uses the same suites as a
    /// client.
    package var suites: String?
    /// The number of session tickets sent after each handshake, for clients that resume sessions.
    package var tickets = 0

    package init(
        identity: TLSIdentity, applicationProtocols: [String] = [],
        clientCertificates: ClientCertificates = .ignored
    ) {
        self.identity = identity
        self.applicationProtocols = applicationProtocols
        self.clientCertificates = clientCertificates
    }
}
