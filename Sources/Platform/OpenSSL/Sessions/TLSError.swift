import COpenSSL
import POSIX

/// Why a TLS connection failed. After a `TLSError`, the session is unusable and must be closed.
package enum TLSError: Error, Hashable, Sendable {
    /// This side refused the peer's certificate, or the peer sent no certificate. `text` is OpenSSL's reason.
    case untrusted(CertificateFault, text: String)
    /// The peer ended the connection with a TLS alert, such as "certificate expired" or "unknown CA".
    case alert(String)
    /// The connection ended without the peer's close_notify. The data may be incomplete.
    case cut
    case system(Int32)
    /// The peer does not speak TLS: the received bytes are not a TLS record. `text` is OpenSSL's reason.
    case notTLS(text: String)
    case library(text: String)

    /// Creates an error from OpenSSL's error queue and empties the queue.
    ///
    /// - Parameter verification: the session's verify result (`X509_V_…`).
    static func taken(verification: Int = Int(X509_V_OK)) -> TLSError {
        let failure = OpenSSLFailure.taken()
        guard failure.library == ERR_LIB_SSL else { return .library(text: failure.text) }
        switch failure.reason {
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return .untrusted(CertificateFault(verification), text: CertificateFault.text(of: verification))
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return .untrusted(.missing, text: failure.text)
        case SSL_R_UNEXPECTED_EOF_WHILE_READING:
            return .cut
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST,
            SSL_R_UNKNOWN_PROTOCOL:
            return .notTLS(text: failure.text)
        case SSL_AD_REASON_OFFSET..<SSL_AD_REASON_OFFSET + 256:
            return .alert(alertName(failure))
        default:
            return .library(text: failure.text)
        }
    }
}

extension TLSError {
    private static func alertName(_ failure: OpenSSLFailure) -> String {
        let name = String(cString: SSL_alert_desc_string_long(failure.reason - SSL_AD_REASON_OFFSET))
        guard name == "unknown" else { return name }
        // For the newest alerts, OpenSSL 3.0 has no name. It has only a text, such as "tlsv13 alert certificate required (…)",
        // and the name is a part of this text.
        let words = failure.text.split(separator: " ").prefix { !$0.hasPrefix("(") }
        return words.count > 2 && words[1] == "alert" ? words[2...].joined(separator: " ") : failure.text
    }
}

extension TLSError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .untrusted(.missing, _): "the peer showed no certificate"
        case .untrusted(_, let text): "the peer's certificate is not trusted: \(text)"
        case .alert(let name): "the peer refused the TLS connection: \(name)"
        case .cut: "the connection was cut without a TLS goodbye"
        case .system(let number): "\(SystemFailure.call(number))"
        case .notTLS(let text): "the peer does not speak TLS (\(text))"
        case .library(let text): text
        }
    }
}

/// Why a peer's certificate is refused.
package enum CertificateFault: Hashable, Sendable {
    case expired
    case notYetValid
    /// The certificate is not valid for the host name or address of the connection.
    case wrongHost
    /// The certificate's chain does not end at a trusted authority.
    case unknownAuthority
    case revoked
    /// The certificate's purpose does not include the peer's role in the connection: client or server.
    case wrongPurpose
    case missing
    case other

    /// - Parameter verification: OpenSSL's verify result (`X509_V_ERR_…`).
    init(_ verification: Int) {
        self =
            switch Int32(verification) {
            case X509_V_ERR_CERT_HAS_EXPIRED: .expired
            case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
            case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongHost
            case _ where Self.isBrokenChain(verification): .unknownAuthority
            case X509_V_ERR_CERT_REVOKED: .revoked
            case X509_V_ERR_INVALID_PURPOSE: .wrongPurpose
            default: .other
            }
    }

    /// Whether the verify result says that the chain does not lead to a trusted authority.
    static func isBrokenChain(_ verification: Int) -> Bool {
        switch Int32(verification) {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED:
            true
        default: false
        }
    }

    /// OpenSSL's text for a verify result.
    static func text(of verification: Int) -> String {
        String(cString: X509_verify_cert_error_string(verification))
    }
}
