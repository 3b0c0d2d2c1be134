import COpenSSL

/// A certificate authority made in memory, for a simulated gateway and its clients. It proves nothing to
/// anyone else.
package struct ThrowAwayAuthority: ~Copyable {
    /// The two worlds of APNs, as a certificate names them.
    package enum Environment: Sendable, CaseIterable {
        case sandbox, production
    }

    private let certificates: CertificateStack
    private let key: KeyHandle

    /// Makes a new authority, valid for ten years.
    package init(
        name: String = "Pushfarm throw-away authority", validity: Validity = .days(3653)
    ) throws(CredentialError) {
        let key = KeyHandle.makeP256()
        let draft = CertificateDraft(role: .authority, commonName: name, validity: validity)
        var certificates = CertificateStack()
        certificates.append(owning: try draft.signed(for: key, issuer: nil, issuerKey: key))
        self.certificates = certificates
        self.key = key
    }

    /// Takes up an authority again, from its ``pem``.
    package init(pem: [UInt8]) throws(CredentialError) {
        let text = try PEMText(pem)
        let key = try text.privateKey(password: nil)
        certificates = try text.certificates().chain(of: key)
        self.key = key
    }

    /// What clients and servers are told to trust.
    package var certificatePEM: [UInt8] { certificates.pem }

    /// The authority with its private key, for ``init(pem:)``.
    package var pem: Secret { Secret(key.pkcs8PEM + certificates.pem) }

    /// A server's certificate and key.
    ///
    /// - Parameter names: host names, `*.example.com` too, and IP addresses; at least one.
    package func server(names: [String], validity: Validity = .days(397)) throws(CredentialError)
        -> TLSIdentity
    {
        guard let first = names.first else { throw CredentialError(.unusableText("")) }
        var draft = CertificateDraft(role: .server, commonName: first, validity: validity)
        for name in names {
            if let octets = Platform.octets(ofAddress: name) {
                draft.addresses.append(octets)
            } else {
                guard Self.isHostName(name) else { throw CredentialError(.unusableText(name)) }
                draft.hostNames.append(name)
            }
        }
        return try identity(draft)
    }

    /// A client's certificate and key, as Apple issues them for one app.
    ///
    /// - Parameters:
    ///   - bundle: bundle id, which is the default topic.
    ///   - topics: the topic list extension; nil leaves it out, as old certificates do.
    package func client(
        bundle: String, environments: Set<Environment> = [.sandbox, .production],
        topics: [AppleExtension.Topic]? = nil, validity: Validity = .days(397)
    ) throws(CredentialError) -> TLSIdentity {
        let null = DER.element(DER.Tag.null, [])
        var extensions: [Certificate.Extension] = []
        if environments.contains(.sandbox) {
            extensions.append(Certificate.Extension(identifier: AppleExtension.sandbox, value: null))
        }
        if environments.contains(.production) {
            extensions.append(Certificate.Extension(identifier: AppleExtension.production, value: null))
        }
        if let topics {
            if topics.contains(where: { $0.kinds.contains("voip") }) {
                extensions.append(Certificate.Extension(identifier: AppleExtension.voip, value: null))
            }
            let value = AppleExtension.value(ofTopics: topics)
            extensions.append(Certificate.Extension(identifier: AppleExtension.topics, value: value))
        }
        return try identity(
            CertificateDraft(
                role: .client, commonName: "Apple Push Services: \(bundle)", userID: bundle,
                extensions: extensions, validity: validity))
    }

    /// The contents of a new .p8 file: a P-256 key as PKCS#8 PEM.
    package static func signingKey() -> Secret {
        Secret(KeyHandle.makeP256().pkcs8PEM)
    }

    private func identity(_ draft: CertificateDraft) throws(CredentialError) -> TLSIdentity {
        let leafKey = KeyHandle.makeP256()
        let issuer = certificates.pointers[0]
        var chain = CertificateStack()
        chain.append(owning: try draft.signed(for: leafKey, issuer: issuer, issuerKey: key))
        chain.append(sharing: issuer)
        return try TLSIdentity(chain, key: leafKey)
    }

    private static func isHostName(_ name: String) -> Bool {
        let allowed = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            case UInt8(ascii: "_"), UInt8(ascii: "*"): true
            default: false
            }
        }
        return (1...253).contains(name.utf8.count) && name.utf8.allSatisfy(allowed)
    }
}
