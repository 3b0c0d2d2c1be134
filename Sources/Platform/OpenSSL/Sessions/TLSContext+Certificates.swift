import COpenSSL

extension TLSContext {
    func set(_ identity: TLSIdentity) throws(CredentialError) {
        let chain = try PEMText(identity.chainPEM).certificates()
        let key = try PEMText(identity.keyPEM.bytes).privateKey(password: nil)
        ERR_clear_error()
        guard SSL_CTX_use_certificate(pointer, chain.pointers[0]) == 1 else { throw .taken() }
        for certificate in chain.pointers.dropFirst()
        where copenssl_ctx_add1_chain_cert(pointer, certificate) != 1 {
            throw .taken()
        }
        guard SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1 else { throw .taken() }
        guard SSL_CTX_check_private_key(pointer) == 1 else {
            ERR_clear_error()
            throw CredentialError(.keyDoesNotMatch)
        }
    }

    func set(_ trust: Trust) throws(CredentialError) {
        switch trust {
        case .unverified:
            SSL_CTX_set_verify(pointer, SSL_VERIFY_NONE, nil)
            return
        case .system:
            ERR_clear_error()
            guard SSL_CTX_set_default_verify_paths(pointer) == 1 else { throw .taken() }
        case .authorities(let pem):
            try add(authorities: pem)
        case .authorityFile(let file):
            let pem = try SystemCalls.contents(ofFile: file)
            try CredentialError.naming(file) { () throws(CredentialError) in try add(authorities: pem) }
        }
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
    }

    func set(_ certificates: ServerSettings.ClientCertificates) throws(CredentialError) {
        switch certificates {
        case .ignored:
            SSL_CTX_set_verify(pointer, SSL_VERIFY_NONE, nil)
        case .optional(let authorities, let acceptance):
            try request(authorities, acceptance, SSL_VERIFY_PEER)
        case .required(let authorities, let acceptance):
            try request(authorities, acceptance, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT)
        }
    }

    private func request(
        _ authorities: [UInt8], _ acceptance: ServerSettings.Acceptance, _ mode: Int32
    ) throws(CredentialError) {
        if !authorities.isEmpty {
            try add(authorities: authorities)
        }
        switch acceptance {
        case .verified:
            try name(authorities)
            SSL_CTX_set_verify(pointer, mode, nil)
        case .chained:
            try name(authorities)
            SSL_CTX_set_verify(pointer, mode, acceptChained)
        case .anything:
            // The server sends no names of authorities. After such names, a client might send only a certificate of one of these
            // authorities, or no certificate.
            SSL_CTX_set_verify(pointer, mode, acceptAnything)
        }
    }

    /// Sends clients the names of the accepted authorities.
    private func name(_ authorities: [UInt8]) throws(CredentialError) {
        guard !authorities.isEmpty else { return }
        for certificate in try PEMText(authorities).certificates().pointers {
            SSL_CTX_add_client_CA(pointer, certificate)
        }
    }

    private func add(authorities pem: [UInt8]) throws(CredentialError) {
        let certificates = try PEMText(pem).certificates()
        let store = SSL_CTX_get_cert_store(pointer)
        ERR_clear_error()
        for certificate in certificates.pointers where X509_STORE_add_cert(store, certificate) != 1 {
            throw .taken()
        }
        // A certificate that the user names is trusted even if it is not a root.
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    }
}

/// A callback for OpenSSL's verification. The handshake continues if the callback returns 1. Also then, the session keeps the
/// last verify result, which ``TLSSession/peerFault`` returns.
private let acceptChained: SSL_verify_cb = { isGood, store in
    if isGood == 1 { return 1 }
    return CertificateFault.isBrokenChain(Int(X509_STORE_CTX_get_error(store))) ? 0 : 1
}

private let acceptAnything: SSL_verify_cb = { _, _ in 1 }
