import COpenSSL
import PushModel

/// A public P-256 key, which checks ES256 signatures.
package final class VerifyingKey {
    private let key: KeyHandle
    private let algorithm = DigestAlgorithm()

    /// - Parameter pem: SubjectPublicKeyInfo with the label "PUBLIC KEY".
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

    /// Whether `signature` is a signature of `message` by the owner of this key. A signature of 64 bytes is read as `r‖s`, and
    /// any other signature as DER.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        let isRaw = signature.count == ES256Signature.rawLength
        let der = isRaw ? ES256Signature.der(fromRaw: signature) : signature
        let context = allocated(EVP_MD_CTX_new())
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, algorithm.pointer, nil, key.pointer) == 1 else {
            preconditionFailure("OpenSSL cannot verify: \(OpenSSLFailure.taken().text)")
        }
        let isValid = EVP_DigestVerify(context, der, der.count, message, message.count) == 1
        ERR_clear_error()  // A signature that cannot be parsed leaves errors in the queue.
        return isValid
    }

    /// SHA-256 of SubjectPublicKeyInfo, in lower-case hex.
    package var fingerprint: String { Hexadecimal.text(of: SHA256.hash(key.publicDER)) }

    package var pem: [UInt8] {
        let bio = MemoryBIO()
        guard PEM_write_bio_PUBKEY(bio.pointer, key.pointer) == 1 else {
            preconditionFailure("OpenSSL cannot write a public key: \(OpenSSLFailure.taken().text)")
        }
        return bio.drained()
    }
}

/// Converts ECDSA signatures on P-256 between the raw form of JWS (`r‖s`, 32 bytes each) and the DER form of OpenSSL.
/// - Source: RFC 7518, 3.4; RFC 3279, 2.2.3.
package enum ES256Signature {
    package static let rawLength = 64
    private static let half = Int32(rawLength / 2)

    /// Converts a DER signature to the raw form; nil if the DER is malformed or a number needs more than 32 bytes.
    package static func raw(fromDER der: [UInt8]) -> [UInt8]? {
        ERR_clear_error()
        let (signature, length) = der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            let signature = d2i_ECDSA_SIG(nil, &cursor, buffer.count)
            return (signature, cursor.flatMap { end in buffer.baseAddress.map { end - $0 } })
        }
        defer {
            ECDSA_SIG_free(signature)
            ERR_clear_error()  // A malformed signature leaves errors in the queue.
        }
        guard let signature, length == der.count else { return nil }
        let (r, s) = (ECDSA_SIG_get0_r(signature), ECDSA_SIG_get0_s(signature))
        guard BN_is_negative(r) == 0, BN_is_negative(s) == 0 else { return nil }
        var raw = [UInt8](repeating: 0, count: rawLength)
        let isWritten = raw.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            return BN_bn2binpad(r, base, half) == half && BN_bn2binpad(s, base + Int(half), half) == half
        }
        return isWritten ? raw : nil
    }

    /// Returns the raw form of a signature that is raw or DER. Signatures of 64 bytes are raw.
    package static func raw(fromEither signature: [UInt8]) -> [UInt8]? {
        signature.count == rawLength ? signature : raw(fromDER: signature)
    }

    /// - Parameter raw: 64 bytes.
    package static func der(fromRaw raw: [UInt8]) -> [UInt8] {
        precondition(raw.count == rawLength, "a raw signature has 64 bytes")
        let signature = allocated(ECDSA_SIG_new())
        defer { ECDSA_SIG_free(signature) }
        raw.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            // After this call, the signature object owns both numbers.
            _ = ECDSA_SIG_set0(signature, BN_bin2bn(base, half, nil), BN_bin2bn(base + Int(half), half, nil))
        }
        return encoded { i2d_ECDSA_SIG(signature, $0) }
    }
}
