import COpenSSL

/// A certificate, its chain and its private key: the identity of one side of a connection.
///
/// An identity has no C state, so one process can send it as ``pem`` to another process. The description hides the private key.
package struct TLSIdentity: Hashable, Sendable {
    package let certificate: Certificate
    /// The certificate and then its issuers, as PEM. The chain is not secret.
    package let chainPEM: [UInt8]
    /// The private key as PKCS#8 PEM without encryption.
    package let keyPEM: Secret

    /// Key and certificates in one text, for ``init(pem:key:password:)``. The text is secret. Send this text only over a private
    /// channel, and never write it to a disk or a log.
    package var pem: Secret { Secret(keyPEM.bytes + chainPEM) }

    init(_ certificates: borrowing CertificateStack, key: borrowing KeyHandle) throws(CredentialError) {
        let chain = try certificates.chain(of: key)
        certificate = Certificate(reading: chain.pointers[0])
        chainPEM = chain.pem
        keyPEM = Secret(key.pkcs8PEM)
    }

    /// Reads certificates and a private key as PEM. `pem` contains the certificates in any order. The private key is in `key`; if
    /// `key` is nil, the private key is also in `pem`.
    ///
    /// - Parameter password: the password of an encrypted private key.
    package init(pem: [UInt8], key: [UInt8]? = nil, password: String? = nil) throws(CredentialError) {
        let text = try PEMText(pem)
        let certificates = try text.certificates()
        let keyText = if let key { try PEMText(key) } else { text }
        try self.init(certificates, key: keyText.privateKey(password: password))
    }

    /// Reads a .pem or a .p12 file. The content of the file decides the format, not the name of the file.
    ///
    /// - Parameter keyFile: a PEM file with the private key, when `file` contains only certificates.
    package init(file: String, keyFile: String? = nil, password: String? = nil) throws(CredentialError) {
        let contents = try SystemCalls.contents(ofFile: file)
        guard !Self.isPKCS12(contents) else {
            self = try CredentialError.naming(file) { () throws(CredentialError) in
                try TLSIdentity(pkcs12: contents, password: password ?? "")
            }
            return
        }
        let keyFile = keyFile ?? file
        let keyContents = try SystemCalls.contents(ofFile: keyFile)
        let certificates = try CredentialError.naming(file) { () throws(CredentialError) in
            try PEMText(contents).certificates()
        }
        let key = try CredentialError.naming(keyFile) { () throws(CredentialError) in
            try PEMText(keyContents).privateKey(password: password)
        }
        do throws(CredentialError) { try self.init(certificates, key: key) } catch {
            throw CredentialError(error.problem, file: keyFile)
        }
    }

    /// Whether the file is DER. DER starts with 0x30, the tag byte of a sequence. PEM text starts with another byte.
    private static func isPKCS12(_ contents: [UInt8]) -> Bool { contents.first == 0x30 }
}
