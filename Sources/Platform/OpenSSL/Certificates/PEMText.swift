import COpenSSL

/// A text with PEM blocks, and their labels.
struct PEMText {
    let bytes: [UInt8]
    /// The labels of all blocks in order, such as "CERTIFICATE" or "PRIVATE KEY".
    let labels: [String]
    /// Whether a private key in the text needs a password.
    let isEncrypted: Bool

    init(_ contents: [UInt8]) throws(CredentialError) {
        // Some editors write a byte order mark at the start, which OpenSSL would read as a part of the first line.
        let bytes = contents.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(contents.dropFirst(3)) : contents
        guard !bytes.isEmpty else { throw CredentialError(.empty) }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        self.bytes = bytes
        labels = lines.compactMap { line in
            guard line.hasPrefix("-----BEGIN ") else { return nil }
            let label = line.dropFirst(11)
            return String(label.prefix { $0 != "-" })
        }
        guard !labels.isEmpty else { throw CredentialError(.notPEM) }
        isEncrypted =
            labels.contains("ENCRYPTED PRIVATE KEY")
            || lines.contains { $0.hasPrefix("Proc-Type:") && $0.contains("ENCRYPTED") }
    }

    func certificates() throws(CredentialError) -> CertificateStack {
        let bio = MemoryBIO(bytes)
        var stack = CertificateStack()
        while true {
            ERR_clear_error()
            guard let certificate = PEM_read_bio_X509(bio.pointer, nil, nil, nil) else { break }
            stack.append(owning: certificate)
        }
        let failure = OpenSSLFailure.taken()
        guard failure.library == ERR_LIB_PEM, failure.reason == PEM_R_NO_START_LINE else {
            throw CredentialError(.malformed(failure.text))
        }
        guard stack.count > 0 else { throw CredentialError(.noCertificate) }
        return stack
    }

    func privateKey(password: String?) throws(CredentialError) -> KeyHandle {
        guard labels.contains(where: { $0.hasSuffix("PRIVATE KEY") }) else {
            throw CredentialError(.noPrivateKey)
        }
        if isEncrypted && password == nil { throw CredentialError(.passwordNeeded) }
        let bio = MemoryBIO(bytes)
        ERR_clear_error()
        // If `password` is nil, OpenSSL gets an empty password. Without any password, OpenSSL would ask the user for a password
        // on the terminal.
        let key = (password ?? "").withCString { text in
            PEM_read_bio_PrivateKey(bio.pointer, nil, nil, UnsafeMutableRawPointer(mutating: text))
        }
        if let key { return KeyHandle(owning: key) }
        let failure = OpenSSLFailure.taken()
        throw CredentialError(isEncrypted ? .wrongPassword : .malformed(failure.text))
    }
}
