import COpenSSL

extension TLSIdentity {
    /// The encryption of a .p12 file's contents.
    package enum Encryption: Sendable, CaseIterable {
        /// AES-256 with PBKDF2, the default of OpenSSL 3.
        case modern
        /// RC2-40 and 3DES, the default of OpenSSL 1 and the macOS keychain.
        case legacy
    }

    /// Reads a .p12 file, also in the legacy encryption.
    ///
    /// - Throws: ``CredentialError/Problem/wrongPassword`` when the file's checksum (MAC) does not match the password.
    package init(pkcs12 bytes: [UInt8], password: String) throws(CredentialError) {
        guard !bytes.isEmpty else { throw CredentialError(.empty) }
        let file = try PKCS12File(bytes, library: nil)
        try file.check(password: password)
        do throws(CredentialError) {
            self = try file.identity(password: password)
        } catch {
            guard case .malformed = error.problem else { throw error }
            // The password is right, but the file could not be decrypted: either only the legacy provider has the file's cipher,
            // or the file is damaged.
            let library = try LegacyLibrary()
            self = try PKCS12File(bytes, library: library.context).identity(password: password)
        }
    }

    /// Writes a .p12 file.
    package func pkcs12(password: String, encryption: Encryption = .modern) throws(CredentialError) -> [UInt8]
    {
        switch encryption {
        case .modern:
            return try pkcs12(password, NID_aes_256_cbc, NID_aes_256_cbc, iterations: 2048, library: nil)
        case .legacy:
            let library = try LegacyLibrary()
            return try pkcs12(
                password, NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And40BitRC2_CBC,
                iterations: 2048, library: library.context)
        }
    }

    private func pkcs12(
        _ password: String, _ keyCipher: Int32, _ certificateCipher: Int32, iterations: Int32,
        library: OpaquePointer?
    ) throws(CredentialError) -> [UInt8] {
        let chain = try PEMText(chainPEM).certificates()
        let key = try PEMText(keyPEM.bytes).privateKey(password: nil)
        let others = allocated(OPENSSL_sk_new_null())
        defer { OPENSSL_sk_free(others) }
        for certificate in chain.pointers.dropFirst() {
            OPENSSL_sk_push(others, UnsafeRawPointer(certificate))
        }
        ERR_clear_error()
        let file = PKCS12_create_ex(
            password, certificate.commonName ?? "", key.pointer, chain.pointers[0], others, keyCipher,
            certificateCipher, iterations, iterations, 0, library, nil)
        guard let file else { throw .taken() }
        defer { PKCS12_free(file) }
        return encoded { i2d_PKCS12(file, $0) }
    }
}

/// Owns one OpenSSL `PKCS12` object.
private struct PKCS12File: ~Copyable {
    private let pointer: OpaquePointer

    /// - Parameter library: the library context with the ciphers; nil is the process's default context. The context
    ///   must outlive this object.
    init(_ bytes: [UInt8], library: OpaquePointer?) throws(CredentialError) {
        ERR_clear_error()
        let bio = MemoryBIO(bytes)
        var file = PKCS12_init_ex(NID_pkcs7_data, library, nil)
        guard d2i_PKCS12_bio(bio.pointer, &file) != nil, let file else {
            PKCS12_free(file)
            throw .taken()
        }
        pointer = file
    }

    /// Checks the password against the file's MAC. A file without a MAC passes.
    func check(password: String) throws(CredentialError) {
        guard PKCS12_mac_present(pointer) == 1 else { return }
        ERR_clear_error()
        // In a .p12 file, an empty password has two encodings, so this function tries both encodings.
        if PKCS12_verify_mac(pointer, password, -1) == 1 { return }
        if password.isEmpty && PKCS12_verify_mac(pointer, nil, 0) == 1 { return }
        let failure = OpenSSLFailure.taken()
        guard failure.library == 0 else { throw CredentialError(.malformed(failure.text)) }
        throw CredentialError(.wrongPassword)
    }

    func identity(password: String) throws(CredentialError) -> TLSIdentity {
        ERR_clear_error()
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        let isParsed = PKCS12_parse(pointer, password, &key, &certificate, &others) == 1
        var certificates = CertificateStack()
        if let certificate { certificates.append(owning: certificate) }
        if let others {
            while let other = OPENSSL_sk_shift(others) { certificates.append(owning: OpaquePointer(other)) }
            OPENSSL_sk_free(others)
        }
        guard isParsed else {
            if let key { EVP_PKEY_free(key) }
            throw .taken()
        }
        guard let key else { throw CredentialError(.noPrivateKey) }
        let handle = KeyHandle(owning: key)
        guard certificates.count > 0 else { throw CredentialError(.noCertificate) }
        return try TLSIdentity(certificates, key: handle)
    }

    deinit { PKCS12_free(pointer) }
}

/// Owns a separate OpenSSL library context that contains the legacy provider.
///
/// Old .p12 files (RC2-40) need the legacy provider. A separate context keeps the provider out of all other uses of OpenSSL in
/// the process.
struct LegacyLibrary: ~Copyable {
    let context: OpaquePointer
    private let legacy: OpaquePointer
    private let standard: OpaquePointer

    init() throws(CredentialError) {
        let context = allocated(OSSL_LIB_CTX_new())
        ERR_clear_error()
        guard let legacy = OSSL_PROVIDER_load(context, "legacy") else {
            let failure = OpenSSLFailure.taken()
            OSSL_LIB_CTX_free(context)
            throw CredentialError(.legacyProviderMissing(failure.text))
        }
        // A context loads the default provider automatically only while no other provider has been loaded. So the default
        // provider must be loaded here.
        guard let standard = OSSL_PROVIDER_load(context, "default") else {
            preconditionFailure("OpenSSL has no default provider: \(OpenSSLFailure.taken().text)")
        }
        self.context = context
        self.legacy = legacy
        self.standard = standard
    }

    deinit {
        OSSL_PROVIDER_unload(standard)
        OSSL_PROVIDER_unload(legacy)
        OSSL_LIB_CTX_free(context)
    }
}
