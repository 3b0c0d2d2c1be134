import COpenSSL

/// Owns a list of `X509` objects.
struct CertificateStack: ~Copyable {
    private(set) var pointers: [OpaquePointer] = []

    var count: Int { pointers.count }

    mutating func append(owning certificate: OpaquePointer) {
        pointers.append(certificate)
    }

    mutating func append(sharing certificate: OpaquePointer) {
        X509_up_ref(certificate)
        pointers.append(certificate)
    }

    /// Returns the chain of a key: the certificate of `key` first, then the issuers in order. Drops all other certificates.
    ///
    /// - Throws: ``CredentialError/Problem/keyDoesNotMatch`` when no certificate belongs to `key`.
    func chain(of key: borrowing KeyHandle) throws(CredentialError) -> CertificateStack {
        let keyPointer = key.pointer
        guard let leaf = pointers.first(where: { X509_check_private_key($0, keyPointer) == 1 }) else {
            ERR_clear_error()
            throw CredentialError(.keyDoesNotMatch)
        }
        ERR_clear_error()
        var chain = CertificateStack()
        chain.append(sharing: leaf)
        var last = leaf
        var rest = pointers.filter { $0 != leaf }
        while let next = rest.firstIndex(where: { X509_check_issued($0, last) == X509_V_OK }) {
            last = rest.remove(at: next)
            chain.append(sharing: last)
        }
        return chain
    }

    var pem: [UInt8] {
        let bio = MemoryBIO()
        for certificate in pointers where PEM_write_bio_X509(bio.pointer, certificate) != 1 {
            preconditionFailure("OpenSSL cannot write a certificate: \(OpenSSLFailure.taken().text)")
        }
        return bio.drained()
    }

    deinit { for certificate in pointers { X509_free(certificate) } }
}
