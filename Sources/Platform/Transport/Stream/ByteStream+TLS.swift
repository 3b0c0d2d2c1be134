import EventLoop
import OpenSSL

/// What the TLS session of a stream has negotiated and done.
extension ByteStream {
    /// The protocol that ALPN agreed on; nil without TLS or ALPN.
    package var applicationProtocol: String? { withSession { $0.applicationProtocol } ?? nil }

    /// Whether ``requestKeyUpdate()`` can be used to learn if the peer's program has read the sent bytes.
    package var hasKeyUpdates: Bool { withSession { $0.hasKeyUpdates } ?? false }

    /// How often the peer's TLS has responded to key update requests.
    package var keyUpdates: Int { withSession { $0.keyUpdates } ?? 0 }
}
