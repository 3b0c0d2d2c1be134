import COpenSSL

/// The two forms of a P-256 signature: JWS wants `r‖s`, 64 bytes; OpenSSL speaks DER.
enum ES256Signature {
    static let rawLength = 64

    /// - Parameter der: as OpenSSL made it.
    static func raw(fromDER der: [UInt8]) -> [UInt8] {
        let signature = der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &cursor, buffer.count)
        }
        defer { ECDSA_SIG_free(signature) }
        guard signature != nil else { preconditionFailure("OpenSSL made a signature that it cannot read") }
        var raw = [UInt8](repeating: 0, count: rawLength)
        raw.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, 32)
            BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + 32, 32)
        }
        return raw
    }

    /// - Parameter raw: 64 bytes.
    static func der(fromRaw raw: [UInt8]) -> [UInt8] {
        precondition(raw.count == rawLength, "a raw signature has 64 bytes")
        let signature = allocated(ECDSA_SIG_new())
        defer { ECDSA_SIG_free(signature) }
        raw.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            // The signature takes both numbers over.
            _ = ECDSA_SIG_set0(signature, BN_bin2bn(base, 32, nil), BN_bin2bn(base + 32, 32, nil))
        }
        return encoded { i2d_ECDSA_SIG(signature, $0) }
    }
}
