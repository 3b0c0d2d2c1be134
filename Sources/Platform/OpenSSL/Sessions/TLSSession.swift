import COpenSSL

/// Owns one `SSL` object on a nonblocking socket. The caller owns and closes the socket.
///
/// The session never blocks: ``TLSProgress`` and ``TLSTransfer`` say which event to wait for. After a ``TLSError``, only
/// close the session.
/// The process must ignore SIGPIPE, because OpenSSL writes with `write(2)`.
package struct TLSSession: ~Copyable {
    /// The maximum number of bytes that one ``write(_:)`` takes: four full TLS records.
    package static let longestWrite = 64 << 10

    let ssl: OpaquePointer
    private let context: TLSContext
    private let peersKeyUpdates = Count()

    /// Creates a client session.
    ///
    /// - Parameter serverName: the host name or IP address that the server's certificate must contain.
    ///   A host name is also sent as SNI.
    package init(client context: TLSContext, socket: Int32, serverName: String) throws(TLSError) {
        precondition(!context.isServer, "a client session needs a client context")
        self.context = context
        ssl = try Self.make(context, socket, serverName: serverName)
    }

    /// Creates a server session.
    package init(server context: TLSContext, socket: Int32) throws(TLSError) {
        precondition(context.isServer, "a server session needs a server context")
        self.context = context
        ssl = try Self.make(context, socket, serverName: nil)
    }

    /// - Parameter serverName: nil creates a server session.
    private static func make(
        _ context: TLSContext, _ socket: Int32, serverName: String?
    ) throws(TLSError) -> OpaquePointer {
        // DNS allows a final dot in a name, but certificates do not.
        let name = serverName.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
        // If the name is empty, OpenSSL would accept a certificate for any name.
        if name?.isEmpty == true { throw .library(text: "a server name is needed") }
        ERR_clear_error()
        guard let ssl = SSL_new(context.pointer) else { throw .taken() }
        guard SSL_set_fd(ssl, socket) == 1, name.map({ setServerName($0, ssl) }) ?? true else {
            let error = TLSError.taken()
            SSL_free(ssl)
            throw error
        }
        if name == nil { SSL_set_accept_state(ssl) } else { SSL_set_connect_state(ssl) }
        return ssl
    }

    private static func setServerName(_ name: String, _ ssl: OpaquePointer) -> Bool {
        if SystemCalls.octets(ofAddress: name) != nil {
            return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1
        }
        SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        return SSL_set1_host(ssl, name) == 1 && copenssl_set_sni(ssl, name) == 1
    }

    deinit { SSL_free(ssl) }

    /// Continues the handshake.
    ///
    /// With TLS 1.3 a client finishes before the server has checked the client's certificate. If the server refuses the
    /// certificate, the first ``read(into:)`` throws ``TLSError/alert(_:)``.
    package func handshake() throws(TLSError) -> TLSProgress {
        ERR_clear_error()
        let status = SSL_do_handshake(ssl)
        if status == 1 { return .done }
        switch try waitReason(status) {
        case .wantRead: return .wantRead
        case .wantWrite: return .wantWrite
        case .closed, .bytes: throw .cut
        }
    }

    /// Reads at most the content of one TLS record. Repeat the call until the result is ``TLSTransfer/wantRead`` or
    /// ``TLSTransfer/wantWrite``: OpenSSL may have read more bytes from the socket already (``hasPending``), and a poll does not
    /// report these bytes.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> TLSTransfer {
        precondition(!buffer.isEmpty, "a read needs room")
        ERR_clear_error()
        var count = 0
        let status = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        if status == 1 { return .bytes(count) }
        return try waitReason(status)
    }

    /// Writes up to ``longestWrite`` bytes in as many TLS records as needed.
    ///
    /// If fewer bytes than given were written, the socket is full or the connection is broken. The next call of this function
    /// returns what to wait for, or throws the error. If records were sent before an error, the call returns the number of bytes
    /// in these records and not the error, because the peer may have read the records.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(TLSError) -> TLSTransfer {
        precondition(!bytes.isEmpty, "a write needs bytes")
        let limit = min(bytes.count, Self.longestWrite)
        var total = 0
        while total < limit {
            ERR_clear_error()
            var count = 0
            let status = SSL_write_ex(ssl, bytes.baseAddress.map { $0 + total }, limit - total, &count)
            guard status == 1 else {
                if total > 0 { return .bytes(total) }
                return try waitReason(status)
            }
            total += count
        }
        return .bytes(total)
    }

    /// Asks the peer to change its keys (RFC 8446, section 4.6.3). The peer responds when its program has read all bytes that
    /// were written before. ``keyUpdates`` counts the responses. A server that uses OpenSSL sends its response only when it reads
    /// the next record after the request.
    ///
    /// Call this function only when no ``write(_:)`` must be repeated. If the result is not ``TLSProgress/done``, call the
    /// function again before anything else is written.
    ///
    /// - Throws: an error if the request cannot be sent, or if the connection uses TLS 1.2, which has no key updates
    ///   (``hasKeyUpdates``).
    package func requestKeyUpdate() throws(TLSError) -> TLSProgress {
        ERR_clear_error()
        if SSL_in_init(ssl) == 0 {
            peersKeyUpdates.watch(ssl)
            guard SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1 else { throw .taken() }
        }
        return try handshake()
    }

    /// Whether the peer can be asked to change its keys (TLS 1.3).
    package var hasKeyUpdates: Bool { SSL_version(ssl) >= TLS1_3_VERSION }

    /// How often the peer has responded to key update requests. A response is a KeyUpdate message of the peer that requests no
    /// key update from this side.
    package var keyUpdates: Int { peersKeyUpdates.value }

    /// Sends close_notify. The result is ``TLSProgress/done`` when close_notify is written; ``read(into:)`` reports the
    /// peer's close_notify.
    package func shutdown() throws(TLSError) -> TLSProgress {
        ERR_clear_error()
        let status = SSL_shutdown(ssl)
        if status >= 0 { return .done }
        switch try waitReason(status) {
        case .wantRead: return .wantRead
        case .wantWrite: return .wantWrite
        case .closed, .bytes: return .done
        }
    }

    /// Whether OpenSSL has bytes of the socket that ``read(into:)`` has not returned yet. These bytes may be only a part of a
    /// record.
    package var hasPending: Bool { SSL_has_pending(ssl) == 1 }

    /// Returns why the call with the result `status` did not finish.
    private func waitReason(_ status: Int32) throws(TLSError) -> TLSTransfer {
        let systemError = SystemCalls.lastError
        switch SSL_get_error(ssl, status) {
        case SSL_ERROR_WANT_READ: return .wantRead
        case SSL_ERROR_WANT_WRITE: return .wantWrite
        case SSL_ERROR_ZERO_RETURN: return .closed
        case SSL_ERROR_SYSCALL where ERR_peek_error() == 0:
            throw systemError == 0 ? .cut : .system(systemError)
        default: throw .taken(verification: SSL_get_verify_result(ssl))
        }
    }
}

/// Counts the peer's responses to key update requests, which OpenSSL reports only to a callback.
private final class Count {
    var value = 0

    /// Starts counting the peer's responses. The session must not outlive this object.
    func watch(_ ssl: OpaquePointer) {
        SSL_ctrl(ssl, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, Unmanaged.passUnretained(self).toOpaque())
        SSL_set_msg_callback(ssl) { isWritten, _, type, bytes, length, _, count in
            // A KeyUpdate message has a type, a 24-bit length and the byte update_requested.
            guard isWritten == 0, type == SSL3_RT_HANDSHAKE, length == 5, let bytes, let count,
                bytes.load(as: UInt8.self) == SSL3_MT_KEY_UPDATE,
                bytes.load(fromByteOffset: 4, as: UInt8.self) == SSL_KEY_UPDATE_NOT_REQUESTED
            else { return }
            Unmanaged<Count>.fromOpaque(count).takeUnretainedValue().value += 1
        }
    }
}

/// The results of the handshake.
extension TLSSession {
    /// The protocol that ALPN chose for both sides; nil if ALPN chose none.
    package var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// The TLS version, such as "TLSv1.3".
    package var version: String { String(cString: SSL_get_version(ssl)) }

    /// The peer's certificate. Each use of this property reads the certificate again.
    package var peerCertificate: Certificate? {
        SSL_get0_peer_certificate(ssl).map { Certificate(reading: $0) }
    }

    /// The fault that a full check of the peer's certificate found, even if the certificate was accepted; nil if there is no
    /// fault or no certificate.
    package var peerFault: CertificateFault? {
        let result = SSL_get_verify_result(ssl)
        return result == Int(X509_V_OK) ? nil : CertificateFault(result)
    }
}

/// The progress of a handshake or a shutdown.
package enum TLSProgress: Hashable, Sendable {
    case done
    /// Call the function again when the socket is readable.
    case wantRead
    /// Call the function again when the socket is writable.
    case wantWrite
}

/// The result of a read or a write.
package enum TLSTransfer: Hashable, Sendable {
    /// The number of bytes moved; at least one.
    case bytes(Int)
    /// Repeat the call when the socket is readable. A repeated write must start with the same bytes and may add more bytes.
    case wantRead
    /// Repeat the call when the socket is writable. For a repeated write, the rule of ``wantRead`` applies.
    case wantWrite
    /// The peer sent close_notify: no more bytes will come.
    case closed
}
