import COpenSSL

/// A public P-256 key, which checks ES256 signatures.
package final class VerifyingKey {
    private let key: KeyHandle
    private let algorithm = DigestAlgorithm()

    /// - Parameter pem: SubjectPublicKeyInfo, label "PUBLIC KEY".
    package init(pem: [UInt8]) throws(CredentialError) {
        let text = try PEMText(pem)
        let label = "PUBLIC KEY"
        guard text.labels.contains(label) else {
            throw CredentialError(.wrongLabel(found: text.labels[0], expected: label))
        }
        let bio = MemoryBIO(text.bytes)
        ERR_clear_error()
        guard let found = PEM_read_bio_PUBKEY(bio.pointer, nil, nil, nil) else { throw .taken() }
        let key = KeyHandle(owning: found)
        try key.checkP256()
        self.key = key
    }

    init(sharing pointer: OpaquePointer) {
        key = KeyHandle(sharing: pointer)
    }

    /// Whether `signature` is this key's for `message`. Both forms are taken: 64 bytes are `r‖s`, else DER.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        let isRaw = signature.count == ES256Signature.rawLength
        let der = isRaw ? ES256Signature.der(fromRaw: signature) : signature
        let context = allocated(EVP_MD_CTX_new())
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, algorithm.pointer, nil, key.pointer) == 1 else {
            preconditionFailure("OpenSSL cannot verify: \(OpenSSLFailure.taken().text)")
        }
        let isValid = EVP_DigestVerify(context, der, der.count, message, message.count) == 1
        ERR_clear_error()  // A signature that cannot be parsed leaves entries.
        return isValid
    }

    /// SHA-256 of SubjectPublicKeyInfo, lower-case hex.
    package var fingerprint: String { SHA256.hash(key.publicDER).hexadecimal }

    package var pem: [UInt8] {
        let bio = MemoryBIO()
        guard PEM_write_bio_PUBKEY(bio.pointer, key.pointer) == 1 else {
            preconditionFailure("OpenSSL cannot write a public key: \(OpenSSLFailure.taken().text)")
        }
        return bio.drained()
    }
}
