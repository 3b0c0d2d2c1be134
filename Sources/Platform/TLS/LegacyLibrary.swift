import COpenSSL

/// Owns an OpenSSL library context of its own with the legacy provider in it.
///
/// Old .p12 files (RC2-40) need that provider. Loaded here, it stays out of every other use of OpenSSL in the
/// process.
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
        // A context with one provider named no longer loads the default one by itself.
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
