import COpenSSL

/// Owns one `EVP_PKEY`, a private or a public key.
struct KeyHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Shares a key that other code owns: adds a reference to the key.
    init(sharing pointer: OpaquePointer) {
        EVP_PKEY_up_ref(pointer)
        self.pointer = pointer
    }

    static func makeP256() -> KeyHandle {
        let context = allocated(EVP_PKEY_CTX_new_from_name(nil, "EC", nil))
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            EVP_PKEY_generate(context, &key) == 1
        else { preconditionFailure("OpenSSL cannot make a P-256 key: \(OpenSSLFailure.taken().text)") }
        return KeyHandle(owning: allocated(key))
    }

    /// OpenSSL's name of the key type: "EC", "RSA", "ED25519".
    var type: String { EVP_PKEY_get0_type_name(pointer).map { String(cString: $0) } ?? "unknown" }

    /// OpenSSL's name of an EC key's curve: "prime256v1", "secp384r1".
    var curve: String {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else { return "unknown" }
        return String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// - Throws: ``CredentialError/Problem/wrongKeyType(found:)`` or
    /// ``CredentialError/Problem/wrongCurve(found:)``.
    func checkP256() throws(CredentialError) {
        guard EVP_PKEY_is_a(pointer, "EC") == 1 else { throw CredentialError(.wrongKeyType(found: type)) }
        guard curve == "prime256v1" else { throw CredentialError(.wrongCurve(found: curve)) }
    }

    /// - Throws: when the private and the public part of the key do not match, or when the public part is not a point on the
    ///   curve.
    func checkConsistency() throws(CredentialError) {
        let context = allocated(EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil))
        defer { EVP_PKEY_CTX_free(context) }
        ERR_clear_error()
        guard EVP_PKEY_check(context) == 1 else { throw .taken() }
    }

    /// The private number of an EC key on P-256: 32 secret bytes.
    var privateScalar: [UInt8] {
        var number: OpaquePointer?
        var bytes = [UInt8](repeating: 0, count: 32)
        guard EVP_PKEY_get_bn_param(pointer, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1,
            BN_bn2binpad(number, &bytes, Int32(bytes.count)) == Int32(bytes.count)
        else {
            preconditionFailure("a private P-256 key has no private number: \(OpenSSLFailure.taken().text)")
        }
        BN_clear_free(number)
        return bytes
    }

    var pkcs8PEM: [UInt8] {
        let bio = MemoryBIO()
        guard PEM_write_bio_PKCS8PrivateKey(bio.pointer, pointer, nil, nil, 0, nil, nil) == 1 else {
            preconditionFailure("OpenSSL cannot write a private key: \(OpenSSLFailure.taken().text)")
        }
        return bio.drained()
    }

    var publicDER: [UInt8] { encoded { i2d_PUBKEY(pointer, $0) } }

    deinit { EVP_PKEY_free(pointer) }
}
