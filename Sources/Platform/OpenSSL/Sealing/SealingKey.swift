import COpenSSL

/// Encrypts and authenticates small data with a secret key.
///
/// Layout: version `UInt8` = 1, nonce 12 bytes, ciphertext, tag 16 bytes. AES-256-GCM; the nonce is random.
package struct SealingKey: Sendable {
    package enum OpenError: Error, Hashable, Sendable {
        /// The data is too short, or the version in its first byte is unknown.
        case notSealed
        /// The data was sealed with another key or with other associated data, or the sealed data was changed.
        case notAuthentic
    }

    static let length = 32
    private static let version: UInt8 = 1
    private static let nonceLength = 12
    private static let tagLength = 16

    private let key: Secret

    init(_ key: Secret) {
        precondition(key.bytes.count == Self.length, "a sealing key has 32 bytes")
        self.key = key
    }

    /// - Parameter associated: bytes that are authenticated but not part of the result; ``open(_:associated:)`` needs the same
    ///   bytes.
    package func seal(_ plain: [UInt8], associated: [UInt8]) -> [UInt8] {
        let nonce = SecureRandom.bytes(Self.nonceLength)
        let context = allocated(EVP_CIPHER_CTX_new())
        defer { EVP_CIPHER_CTX_free(context) }
        ERR_clear_error()
        var sealed = [UInt8](repeating: 0, count: plain.count)
        var tag = [UInt8](repeating: 0, count: Self.tagLength)
        var none = [UInt8](repeating: 0, count: 16)
        var moved: Int32 = 0
        guard EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key.bytes, nonce) == 1,
            EVP_EncryptUpdate(context, nil, &moved, associated, Int32(associated.count)) == 1,
            EVP_EncryptUpdate(context, &sealed, &moved, plain, Int32(plain.count)) == 1,
            EVP_EncryptFinal_ex(context, &none, &moved) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), &tag) == 1
        else { preconditionFailure("OpenSSL cannot seal: \(OpenSSLFailure.taken().text)") }
        return [Self.version] + nonce + sealed + tag
    }

    package func open(_ sealed: [UInt8], associated: [UInt8]) throws(OpenError) -> [UInt8] {
        let overhead = 1 + Self.nonceLength + Self.tagLength
        guard sealed.count >= overhead, sealed[0] == Self.version else { throw .notSealed }
        let nonce = Array(sealed[1..<1 + Self.nonceLength])
        let body = Array(sealed[(1 + Self.nonceLength)..<(sealed.count - Self.tagLength)])
        var tag = Array(sealed.suffix(Self.tagLength))
        let context = allocated(EVP_CIPHER_CTX_new())
        defer { EVP_CIPHER_CTX_free(context) }
        ERR_clear_error()
        var plain = [UInt8](repeating: 0, count: body.count)
        var none = [UInt8](repeating: 0, count: 16)
        var moved: Int32 = 0
        guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key.bytes, nonce) == 1,
            EVP_DecryptUpdate(context, nil, &moved, associated, Int32(associated.count)) == 1,
            EVP_DecryptUpdate(context, &plain, &moved, body, Int32(body.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), &tag) == 1,
            EVP_DecryptFinal_ex(context, &none, &moved) == 1
        else {
            ERR_clear_error()
            throw .notAuthentic
        }
        return plain
    }
}

/// Derives keys from secrets.
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
