/// Oldest and newest versions that are spoken.
package enum TLSVersion: Sendable, Hashable, CaseIterable {
    case tls12
    case tls13
}

/// Which authorities vouch for a server.
package enum Trust: Sendable, Hashable {
    /// The system's own roots.
    case system
    /// Only these certificates, as PEM. They need not be roots.
    case authorities([UInt8])
    /// The same, from a PEM file.
    case authorityFile(String)
    /// Any server is believed, whatever its certificate and name. Encrypts, but proves nothing.
    case unverified
}

/// How to call servers.
package struct ClientSettings: Sendable {
    package var trust: Trust = .system
    package var minimumVersion: TLSVersion = .tls12
    package var maximumVersion: TLSVersion = .tls13
    /// ALPN names, best first. Empty sends no ALPN.
    package var applicationProtocols: [String] = []
    /// Shown when the server asks for a certificate.
    package var identity: TLSIdentity?

    package init(
        trust: Trust = .system, applicationProtocols: [String] = [], identity: TLSIdentity? = nil
    ) {
        self.trust = trust
        self.applicationProtocols = applicationProtocols
        self.identity = identity
    }
}

/// How to answer clients.
package struct ServerSettings: Sendable {
    /// What a client certificate must be for the handshake to go on. The verdict of a full check is kept
    /// either way
    /// (``TLSSession/peerFault``).
    package enum Acceptance: Sendable, Hashable {
        /// Everything is right.
        case verified
        /// Its chain leads to one of the authorities; dates, purpose and unknown extensions do not matter.
        case chained
        /// Any at all, even one of an unknown authority.
        case anything
    }

    package enum ClientCertificates: Sendable, Hashable {
        case ignored
        /// Asked for; a client without one is let in. `authorities` is PEM.
        case optional(authorities: [UInt8], Acceptance = .verified)
        case required(authorities: [UInt8], Acceptance = .verified)
    }

    package var identity: TLSIdentity
    package var minimumVersion: TLSVersion = .tls12
    package var maximumVersion: TLSVersion = .tls13
    /// ALPN names, best first. A client that offers only others is refused; one that offers none is accepted.
    package var applicationProtocols: [String] = []
    package var clientCertificates: ClientCertificates = .ignored
    /// Suites of TLS 1.2 in OpenSSL's words, for tests of clients; nil: the same as clients have.
    package var suites: String?
    /// Session tickets sent after each handshake, for clients that want to resume.
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
