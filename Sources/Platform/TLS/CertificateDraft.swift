import COpenSSL

/// What a certificate of a ``ThrowAwayAuthority`` shall say.
struct CertificateDraft {
    enum Role {
        case authority, server, client
    }

    let role: Role
    let commonName: String
    var userID: String?
    var hostNames: [String] = []
    var addresses: [[UInt8]] = []
    var extensions: [Certificate.Extension] = []
    let validity: Validity

    /// Makes the certificate of `key`.
    ///
    /// - Parameters issuer, issuerKey: who signs; a nil issuer means that the certificate signs itself.
    func signed(
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
            for item in allExtensions { try add(item, certificate) }
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
        serial[0] = serial[0] & 0x7F | 0x40  // Positive, and always 16 bytes.
        let number = BN_bin2bn(serial, Int32(serial.count), nil)
        BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate))
        BN_free(number)
    }

    private func setSubject(_ certificate: OpaquePointer) throws(CredentialError) {
        let name = X509_get_subject_name(certificate)
        if let userID { try add(userID, NID_userId, name) }
        // X.509 allows 64 characters here.
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
        let texts: [(Int32, String)] =
            switch role {
            case .authority:
                [
                    (NID_basic_constraints, "critical,CA:TRUE"),
                    (NID_key_usage, "critical,keyCertSign,cRLSign"),
                    (NID_subject_key_identifier, "hash"),
                ]
            case .server:
                [
                    (NID_basic_constraints, "critical,CA:FALSE"),
                    (NID_key_usage, "critical,digitalSignature"),
                    (NID_ext_key_usage, "serverAuth"), (NID_subject_key_identifier, "hash"),
                    (NID_authority_key_identifier, "keyid"),
                ]
            case .client:
                [
                    (NID_basic_constraints, "critical,CA:FALSE"),
                    (NID_key_usage, "critical,digitalSignature"),
                    (NID_ext_key_usage, "clientAuth"), (NID_subject_key_identifier, "hash"),
                    (NID_authority_key_identifier, "keyid"),
                ]
            }
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        for (kind, text) in texts {
            guard let item = X509V3_EXT_conf_nid(nil, &context, kind, text) else { throw .taken() }
            defer { X509_EXTENSION_free(item) }
            try check(X509_add_ext(certificate, item, -1))
        }
    }

    private var allExtensions: [Certificate.Extension] {
        let names =
            hostNames.flatMap { DER.element(DER.Tag.hostName, Array($0.utf8)) }
            + addresses.flatMap { DER.element(DER.Tag.address, $0) }
        guard !names.isEmpty else { return extensions }
        let value = DER.element(DER.Tag.sequence, names)
        return [Certificate.Extension(identifier: "2.5.29.17", value: value)] + extensions
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
