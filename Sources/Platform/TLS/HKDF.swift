import COpenSSL

/// Makes keys out of secrets.
package enum HKDF {
    /// HKDF with SHA-256, RFC 5869.
    package static func sha256(_ material: Secret, salt: [UInt8], info: [UInt8], length: Int) -> [UInt8] {
        let context = allocated(EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil))
        defer { EVP_PKEY_CTX_free(context) }
        ERR_clear_error()
        var key = [UInt8](repeating: 0, count: length)
        var made = length
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1,
            salt.isEmpty || EVP_PKEY_CTX_set1_hkdf_salt(context, salt, Int32(salt.count)) == 1,
            EVP_PKEY_CTX_set1_hkdf_key(context, material.bytes, Int32(material.bytes.count)) == 1,
            info.isEmpty || EVP_PKEY_CTX_add1_hkdf_info(context, info, Int32(info.count)) == 1,
            EVP_PKEY_derive(context, &key, &made) == 1, made == length
        else { preconditionFailure("OpenSSL cannot derive a key: \(OpenSSLFailure.taken().text)") }
        return key
    }
}
