import COpenSSL

/// The OpenSSL that this process uses.
package enum TLSLibrary {
    /// Such as "OpenSSL 3.0.17 1 Jul 2025".
    package static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }

    /// Whether ciphers of the legacy provider can be reached from everywhere; they should not be.
    package static var offersLegacyCiphers: Bool {
        ERR_clear_error()
        let cipher = EVP_CIPHER_fetch(nil, "RC2-40-CBC", nil)
        EVP_CIPHER_free(cipher)
        ERR_clear_error()
        return cipher != nil
    }
}
