/// TLS versions that can be set as limits.
package enum TLSVersion: Sendable, Hashable, CaseIterable {
    case tls12
    case tls13
}

/// The authorities that a client trusts.
package enum Trust: Sendable, Hashable {
    case system
    /// Only these certificates, as PEM. They need not be roots.
    case authorities([UInt8])
    case authorityFile(String)
    /// Every server is accepted: encryption without authentication.
    case unverified
}

/// Settings of the client side.
package struct ClientSettings: Sendable {
    package var trust: Trust = .system
    package var minimumVersion: TLSVersion = .tls12
    package var maximumVersion: TLSVersion = .tls13
    /// ALPN names, best first. Empty sends no ALPN.
    package var applicationProtocols: [String] = []
    /// Sent when the server asks for a certificate.
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
    /// What a client certificate must fulfil for the handshake to succeed. ``TLSSession/peerFault`` has the result of a full
    /// check in any case.
    package enum Acceptance: Sendable, Hashable {
        case verified
        /// Its chain leads to one of the authorities; dates, purpose and unknown extensions do not matter.
        case chained
        /// Any certificate, also from an unknown authority.
        case anything
    }

    package enum ClientCertificates: Sendable, Hashable {
        case ignored
        /// Requested; a client without a certificate is accepted. `authorities` is PEM.
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
