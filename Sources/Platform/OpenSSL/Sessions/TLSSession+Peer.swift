import COpenSSL

/// What the handshake agreed on.
extension TLSSession {
    /// The ALPN name both sides chose, or nil.
    package var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// Such as "TLSv1.3".
    package var version: String { String(cString: SSL_get_version(ssl)) }

    /// Such as "TLS_AES_256_GCM_SHA384".
    package var cipher: String {
        guard let name = SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)) else { return "none" }
        return String(cString: name)
    }

    /// The name that the client asked for by SNI; only on the server's side.
    package var requestedServerName: String? {
        SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
    }

    /// The certificate that the peer showed, read again on each call.
    package var peerCertificate: Certificate? {
        SSL_get0_peer_certificate(ssl).map { Certificate(reading: $0) }
    }

    /// What a full check holds against the peer's certificate, even if it was accepted; nil if nothing or if
    /// there is none.
    package var peerFault: CertificateFault? {
        let result = SSL_get_verify_result(ssl)
        return result == Int(X509_V_OK) ? nil : CertificateFault(result)
    }
}
