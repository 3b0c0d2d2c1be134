import COpenSSL

/// What is wrong with a peer's certificate.
package enum CertificateFault: Hashable, Sendable {
    case expired
    case notYetValid
    /// It is for other host names or addresses than the one that was called.
    case wrongHost
    /// Its chain does not lead to an authority that is trusted here.
    case unknownAuthority
    case revoked
    /// It is not meant for this side of a TLS connection.
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

    /// Whether the result says that the chain leads to no trusted authority.
    static func isBrokenChain(_ verification: Int) -> Bool {
        switch Int32(verification) {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED:
            true
        default: false
        }
    }

    /// OpenSSL's own words for a verify result.
    static func text(of verification: Int) -> String {
        String(cString: X509_verify_cert_error_string(verification))
    }
}
