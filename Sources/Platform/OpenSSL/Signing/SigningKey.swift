import COpenSSL
import PushModel

/// A private P-256 key from a .p8 file. The key signs provider tokens.
///
/// Callers cannot read the private key from this object.
package final class SigningKey {
    private let key: KeyHandle
    private let algorithm = DigestAlgorithm()

    /// - Parameter pem: unencrypted PKCS#8 with the label "PRIVATE KEY".
    package init(pem: [UInt8]) throws(CredentialError) {
        let text = try PEMText(pem)
        let label = "PRIVATE KEY"
        guard text.labels.contains(label) else {
            if text.isEncrypted { throw CredentialError(.encrypted) }
            throw CredentialError(.wrongLabel(found: text.labels[0], expected: label))
        }
        let key = try text.privateKey(password: nil)
        try key.checkP256()
        try key.checkConsistency()
        self.key = key
    }

    /// The contents of a new .p8 file: a P-256 key as PKCS#8 PEM.
    package static func makePEM() -> Secret { Secret(KeyHandle.makeP256().pkcs8PEM) }

    package convenience init(file: String) throws(CredentialError) {
        let pem = try SystemCalls.contents(ofFile: file)
        do throws(CredentialError) { try self.init(pem: pem) } catch {
            throw CredentialError(error.problem, file: file)
        }
    }

    /// Returns an ES256 signature in the form of JWS: `r‖s`, 64 bytes.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        let context = allocated(EVP_MD_CTX_new())
        defer { EVP_MD_CTX_free(context) }
        ERR_clear_error()
        var der = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key.pointer)))
        var length = der.count
        guard EVP_DigestSignInit(context, nil, algorithm.pointer, nil, key.pointer) == 1,
            EVP_DigestSign(context, &der, &length, message, message.count) == 1
        else { preconditionFailure("OpenSSL cannot sign: \(OpenSSLFailure.taken().text)") }
        guard let raw = ES256Signature.raw(fromDER: Array(der.prefix(length))) else {
            preconditionFailure("OpenSSL made a signature that it cannot read")
        }
        return raw
    }

    package var verifyingKey: VerifyingKey { VerifyingKey(sharing: key.pointer) }

    /// SHA-256 of the public key's SubjectPublicKeyInfo, in lower-case hex. The fingerprint is safe to show.
    package var fingerprint: String { Hexadecimal.text(of: SHA256.hash(key.publicDER)) }

    /// Derives a sealing key from this signing key. Only processes with this signing key can derive the sealing key.
    ///
    /// - Parameter purpose: a text that names the use of the sealing key. Different texts give unrelated keys.
    package func sealingKey(purpose: String) -> SealingKey {
        let material = Secret(key.privateScalar)
        let info = Array("pushfarm sealing 1 \(purpose)".utf8)
        return SealingKey(Secret(HKDF.sha256(material, salt: [], info: info, length: SealingKey.length)))
    }
}
