import COpenSSL
import PushModel

/// The contents of a certificate that will be issued.
package struct CertificateDraft: Sendable {
    package enum Role: Sendable {
        case authority, server, client
    }

    private let role: Role
    private let commonName: String
    private let validity: Validity
    /// The UID attribute of the subject.
    package var userID: String?
    /// The subject's alternative names: host names, also `*.example.com`, and IP addresses.
    package var names: [String] = []
    /// Further extensions besides the extensions of the certificate's role.
    package var extensions: [Certificate.Extension] = []

    package init(_ role: Role, commonName: String, validity: Validity) {
        (self.role, self.commonName, self.validity) = (role, commonName, validity)
    }

    /// Creates a P-256 key and a certificate for the key.
    ///
    /// - Parameter issuer: the identity that signs the new certificate. The issuer's certificate follows the new certificate in
    ///   the chain. If `issuer` is nil, the new certificate is self-signed.
    package func issued(by issuer: TLSIdentity? = nil) throws(CredentialError) -> TLSIdentity {
        let key = KeyHandle.makeP256()
        guard let issuer else {
            var chain = CertificateStack()
            chain.append(owning: try signed(for: key, issuer: nil, issuerKey: key))
            return try TLSIdentity(chain, key: key)
        }
        let issuers = try PEMText(issuer.chainPEM).certificates()
        let issuerKey = try PEMText(issuer.keyPEM.bytes).privateKey(password: nil)
        var chain = CertificateStack()
        chain.append(owning: try signed(for: key, issuer: issuers.pointers[0], issuerKey: issuerKey))
        chain.append(sharing: issuers.pointers[0])
        return try TLSIdentity(chain, key: key)
    }

    /// Creates the certificate of `key`.
    ///
    /// - Parameters issuer, issuerKey: sign the certificate; if the issuer is nil, the certificate is self-signed.
    private func signed(
        for key: borrowing KeyHandle, issuer: OpaquePointer?, issuerKey: borrowing KeyHandle
    ) throws(CredentialError) -> OpaquePointer {
        let certificate = allocated(X509_new())
        do throws(CredentialError) {
            ERR_clear_error()
            let issuer = issuer ?? certificate
            try check(X509_set_version(certificate, Int(X509_VERSION_3)))
            setSerialNumber(certificate)
            try setSubject(certificate)
            try check(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)))
            ASN1_TIME_set(X509_getm_notBefore(certificate), Int(validity.notBefore))
            ASN1_TIME_set(X509_getm_notAfter(certificate), Int(validity.notAfter))
            try check(X509_set_pubkey(certificate, key.pointer))
            try addStandardExtensions(certificate, issuer)
            for item in extensions { try add(item, certificate) }
            guard X509_sign(certificate, issuerKey.pointer, EVP_sha256()) > 0 else { throw .taken() }
            return certificate
        } catch {
            X509_free(certificate)
            throw error
        }
    }

    private func check(_ status: Int32) throws(CredentialError) {
        guard status == 1 else { throw .taken() }
    }

    private func setSerialNumber(_ certificate: OpaquePointer) {
        var serial = SecureRandom.bytes(16)
        serial[0] = serial[0] & 0x7F | 0x40  // Makes the number positive and exactly 16 bytes long.
        let number = BN_bin2bn(serial, Int32(serial.count), nil)
        BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate))
        BN_free(number)
    }

    private func setSubject(_ certificate: OpaquePointer) throws(CredentialError) {
        let name = X509_get_subject_name(certificate)
        if let userID { try add(userID, NID_userId, name) }
        // X.509 allows at most 64 characters in a common name.
        try add(String(commonName.prefix(64)), NID_commonName, name)
    }

    private func add(_ text: String, _ attribute: Int32, _ name: OpaquePointer?) throws(CredentialError) {
        let bytes = Array(text.utf8)
        guard
            X509_NAME_add_entry_by_NID(name, attribute, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0) == 1
        else {
            ERR_clear_error()
            throw CredentialError(.unusableText(text))
        }
    }

    private func addStandardExtensions(
        _ certificate: OpaquePointer, _ issuer: OpaquePointer
    ) throws(CredentialError) {
        let isAuthority = role == .authority
        var texts = [
            (NID_basic_constraints, isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE"),
            (NID_key_usage, isAuthority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature"),
            (NID_subject_key_identifier, "hash"),
        ]
        if !isAuthority {
            texts.append((NID_ext_key_usage, role == .server ? "serverAuth" : "clientAuth"))
            texts.append((NID_authority_key_identifier, "keyid"))
        }
        if !names.isEmpty { texts.append((NID_subject_alt_name, try alternativeNames())) }
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        for (kind, text) in texts {
            guard let item = X509V3_EXT_conf_nid(nil, &context, kind, text) else { throw .taken() }
            defer { X509_EXTENSION_free(item) }
            try check(X509_add_ext(certificate, item, -1))
        }
    }

    /// The alternative names in OpenSSL's syntax: `DNS:localhost,IP:127.0.0.1`.
    private func alternativeNames() throws(CredentialError) -> String {
        var hosts: [String] = []
        var addresses: [String] = []
        for name in names {
            if SystemCalls.octets(ofAddress: name) != nil {
                addresses.append("IP:\(name)")
            } else {
                guard Self.isHostName(name) else { throw CredentialError(.unusableText(name)) }
                hosts.append("DNS:\(name)")
            }
        }
        return (hosts + addresses).joined(separator: ",")
    }

    private static func isHostName(_ name: String) -> Bool {
        (1...253).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isLetterOrDigit || "-._*".utf8.contains($0) }
    }

    private func add(_ item: Certificate.Extension, _ certificate: OpaquePointer) throws(CredentialError) {
        let kind = OBJ_txt2obj(item.identifier, 1)
        defer { ASN1_OBJECT_free(kind) }
        let value = ASN1_OCTET_STRING_new()
        defer { ASN1_OCTET_STRING_free(value) }
        ASN1_OCTET_STRING_set(value, item.value, Int32(item.value.count))
        guard kind != nil,
            let made = X509_EXTENSION_create_by_OBJ(nil, kind, item.isCritical ? 1 : 0, value)
        else { throw .taken() }
        defer { X509_EXTENSION_free(made) }
        try check(X509_add_ext(certificate, made, -1))
    }
}

/// The period in which a certificate is valid, in Unix seconds.
package struct Validity: Hashable, Sendable {
    package let notBefore: Int64
    package let notAfter: Int64

    package init(notBefore: Int64, notAfter: Int64) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// A period that started an hour ago, so that peers whose clock is slow accept the certificate.
    package static func days(_ days: Int64) -> Validity {
        let now = SystemCalls.now
        return Validity(notBefore: now - 3600, notAfter: now + days * 86_400)
    }
}
