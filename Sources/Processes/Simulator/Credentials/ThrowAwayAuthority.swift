import APNs
package import OpenSSL

/// A certificate authority created in memory, for the simulator, its clients, and tests. Other programs do not trust it.
package struct ThrowAwayAuthority: Sendable {
    /// The two environments of APNs that a certificate can name.
    package enum Environment: Sendable, CaseIterable {
        case sandbox, production
    }

    /// One entry of a certificate's topic list, such as "com.example.voip" with the kinds ["voip"].
    package struct Topic: Hashable, Sendable {
        package let name: String
        package let kinds: [String]

        package init(_ name: String, kinds: [String]) {
            self.name = name
            self.kinds = kinds
        }
    }

    private let identity: TLSIdentity

    /// Creates a new authority that is valid for ten years.
    package init(
        name: String = "Pushfarm throw-away authority", validity: Validity = .days(3653)
    ) throws(CredentialError) {
        identity = try CertificateDraft(.authority, commonName: name, validity: validity).issued()
    }

    /// Reads an authority from its ``pem``.
    package init(pem: [UInt8]) throws(CredentialError) {
        identity = try TLSIdentity(pem: pem)
    }

    /// The certificate that clients and servers trust.
    package var certificatePEM: [UInt8] { identity.chainPEM }

    /// The authority with its private key. ``init(pem:)`` reads it.
    package var pem: Secret { identity.pem }

    /// Creates a server's certificate and key.
    ///
    /// - Parameter names: host names, also `*.example.com`, and IP addresses; at least one.
    package func server(
        names: [String], validity: Validity = .days(397)
    ) throws(CredentialError) -> TLSIdentity {
        guard let first = names.first else { throw CredentialError(.unusableText("")) }
        var draft = CertificateDraft(.server, commonName: first, validity: validity)
        draft.names = names
        return try draft.issued(by: identity)
    }

    /// Creates a client's certificate and key, like Apple's certificates for one app.
    ///
    /// - Parameters:
    ///   - bundle: the bundle id, which is the default topic.
    ///   - topics: the contents of the topic list extension; nil creates a certificate without this extension, like
    ///     Apple's old certificates.
    package func client(
        bundle: String, environments: Set<Environment> = [.sandbox, .production],
        topics: [Topic]? = nil, validity: Validity = .days(397)
    ) throws(CredentialError) -> TLSIdentity {
        var marks: [String] = []
        if environments.contains(.sandbox) { marks.append(AppleExtension.sandbox) }
        if environments.contains(.production) { marks.append(AppleExtension.production) }
        if topics?.contains(where: { $0.kinds.contains("voip") }) == true {
            marks.append(AppleExtension.voip)
        }
        var draft = CertificateDraft(
            .client, commonName: "Apple Push Services: \(bundle)", validity: validity)
        draft.userID = bundle
        draft.extensions = marks.map {
            Certificate.Extension(identifier: $0, value: DER.element(DER.Tag.null, []))
        }
        if let topics {
            let list = Self.topicList(topics)
            draft.extensions.append(Certificate.Extension(identifier: AppleExtension.topics, value: list))
        }
        return try draft.issued(by: identity)
    }

    /// The value of ``AppleExtension/topics``: `SEQUENCE { UTF8String topic, SEQUENCE { UTF8String kind … }, … }`.
    private static func topicList(_ topics: [Topic]) -> [UInt8] {
        let entries = topics.flatMap { topic in
            let kinds = topic.kinds.flatMap { DER.element(DER.Tag.utf8String, Array($0.utf8)) }
            return DER.element(DER.Tag.utf8String, Array(topic.name.utf8))
                + DER.element(DER.Tag.sequence, kinds)
        }
        return DER.element(DER.Tag.sequence, entries)
    }
}
