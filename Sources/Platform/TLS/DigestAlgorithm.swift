import COpenSSL

/// Owns OpenSSL's SHA-256, fetched once: the search by name costs more than a small hash.
struct DigestAlgorithm: ~Copyable {
    let pointer: OpaquePointer

    init() {
        pointer = allocated(EVP_MD_fetch(nil, "SHA2-256", nil))
    }

    deinit { EVP_MD_free(pointer) }
}
