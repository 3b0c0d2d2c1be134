import COpenSSL

/// Owns one `SSL_CTX`, which is expensive to create. All sessions of an app or a listener share one `TLSContext`.
package final class TLSContext {
    let pointer: OpaquePointer
    let isServer: Bool
    /// The server's protocols, best first. The object stores the protocols, because OpenSSL passes only `self` to the ALPN
    /// callback.
    fileprivate let applicationProtocols: [[UInt8]]

    /// - Throws: when a file cannot be read, or when certificates or key are not usable.
    package init(client settings: ClientSettings) throws(CredentialError) {
        isServer = false
        applicationProtocols = settings.applicationProtocols.map { Array($0.utf8) }
        pointer = allocated(SSL_CTX_new(TLS_client_method()))
        setUp(settings.minimumVersion, settings.maximumVersion, suites: Self.suites)
        SSL_CTX_set_options(pointer, copenssl_op_no_ticket)
        try set(settings.trust)
        if let identity = settings.identity { try set(identity) }
        guard !applicationProtocols.isEmpty else { return }
        let list = applicationProtocols.flatMap { [Self.lengthByte($0)] + $0 }
        guard SSL_CTX_set_alpn_protos(pointer, list, UInt32(list.count)) == 0 else {
            preconditionFailure("OpenSSL refuses the ALPN list \(settings.applicationProtocols)")
        }
    }

    /// - Throws: when certificates or key are not usable.
    package init(server settings: ServerSettings) throws(CredentialError) {
        isServer = true
        applicationProtocols = settings.applicationProtocols.map { Array($0.utf8) }
        pointer = allocated(SSL_CTX_new(TLS_server_method()))
        setUp(settings.minimumVersion, settings.maximumVersion, suites: settings.suites ?? Self.suites)
        SSL_CTX_set_options(pointer, copenssl_op_cipher_server_preference)
        if settings.tickets == 0 { SSL_CTX_set_options(pointer, copenssl_op_no_ticket) }
        SSL_CTX_set_num_tickets(pointer, settings.tickets)
        // If no session id context is set, OpenSSL does not resume sessions of clients that have sent a certificate.
        let name = Array("pushfarm".utf8)
        SSL_CTX_set_session_id_context(pointer, name, UInt32(name.count))
        try set(settings.identity)
        try set(settings.clientCertificates)
        guard !applicationProtocols.isEmpty else { return }
        // OpenSSL passes the address of this object to the callback. Each session keeps this object alive, so the address is
        // valid during the call.
        SSL_CTX_set_alpn_select_cb(pointer, selectProtocol, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { SSL_CTX_free(pointer) }

    /// Cipher suites for TLS 1.2: only suites with forward secrecy and authenticated encryption. TLS 1.3 has no other suites.
    private static let suites = "ECDHE+AESGCM:ECDHE+CHACHA20:!PSK"

    private func setUp(_ minimum: TLSVersion, _ maximum: TLSVersion, suites: String) {
        guard SSL_CTX_set_cipher_list(pointer, suites) == 1 else {
            preconditionFailure("OpenSSL does not know any of the suites \(suites)")
        }
        copenssl_ctx_set_min_version(pointer, minimum.number)
        copenssl_ctx_set_max_version(pointer, maximum.number)
        SSL_CTX_set_options(pointer, copenssl_op_no_renegotiation)
        copenssl_ctx_set_session_cache_mode(pointer, Int(SSL_SESS_CACHE_OFF))
        // Allows OpenSSL to write only a part of the bytes. Also allows the caller to repeat a write from another address,
        // because the caller's buffer may grow and move before the write is repeated.
        let modes =
            SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS
        copenssl_ctx_set_mode(pointer, Int(modes))
        // Reads many small records with one system call, instead of two calls for each record.
        copenssl_ctx_set_read_ahead(pointer, 1)
    }

    fileprivate static func lengthByte(_ name: [UInt8]) -> UInt8 {
        guard let length = UInt8(exactly: name.count), length > 0 else {
            preconditionFailure("an ALPN name has 1 to 255 bytes")
        }
        return length
    }

    /// The best protocol that the client offers, as a range of the client's list; nil if the client offers no known protocol.
    fileprivate func choice(from offer: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        for name in applicationProtocols {
            var index = 0
            while index < offer.count {
                let range = index + 1..<index + 1 + Int(offer[index])
                guard range.upperBound <= offer.count else { return nil }
                if offer[range].elementsEqual(name) { return range }
                index = range.upperBound
            }
        }
        return nil
    }
}

extension TLSVersion {
    fileprivate var number: Int32 {
        switch self {
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }
}

/// OpenSSL's ALPN callback. The callback returns a part of the client's own list, which outlives the call.
private let selectProtocol: SSL_CTX_alpn_select_cb_func = { _, chosen, chosenLength, offer, length, owner in
    guard let chosen, let chosenLength, let offer, let owner else { return SSL_TLSEXT_ERR_NOACK }
    let context = Unmanaged<TLSContext>.fromOpaque(owner).takeUnretainedValue()
    guard let range = context.choice(from: UnsafeBufferPointer(start: offer, count: Int(length))) else {
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
    chosen.pointee = offer + range.lowerBound
    chosenLength.pointee = UInt8(range.count)
    return SSL_TLSEXT_ERR_OK
}
