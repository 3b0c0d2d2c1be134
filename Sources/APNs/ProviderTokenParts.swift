/// A provider token taken apart, as a gateway does before it checks the signature.
///
/// Tolerant where APNs is: `iat` may be a number or text, in seconds or milliseconds; other claims are ignored; the
/// signature may be raw (64 bytes) or DER.
package struct ProviderTokenParts: Hashable, Sendable {
    /// Times from here on are milliseconds.
    private static let leastMilliseconds: Int64 = 100_000_000_000

    package let keyID: String
    package let teamID: String
    /// Seconds since 1970.
    package let issuedAt: Int64
    /// How many of the token's first bytes are signed.
    package let signedLength: Int
    /// r and s, 32 bytes each, big-endian.
    package let signature: [UInt8]

    /// nil if the token is malformed, not ES256, or lacks key, team or time.
    package init?(_ token: UnsafeRawBufferPointer) {
        let dots = token.indices.filter { token[$0] == UInt8(ascii: ".") }
        guard dots.count == 2, let header = Base64URL.decode(token[..<dots[0]]),
            let claims = Base64URL.decode(token[(dots[0] + 1)..<dots[1]]),
            let signature = Base64URL.decode(token[(dots[1] + 1)...])
        else { return nil }

        guard let header = Self.members(of: header), let claims = Self.members(of: claims),
            header["alg"] == .string("ES256"), case .string(let keyID) = header["kid"],
            case .string(let teamID) = claims["iss"], let issuedAt = Self.seconds(claims["iat"])
        else { return nil }

        guard let raw = signature.withUnsafeBytes({ ECDSASignature.raw(fromEither: $0) }) else { return nil }
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = issuedAt
        self.signedLength = dots[1]
        self.signature = raw
    }

    private static func members(of object: [UInt8]) -> [String: JSONReader.Value]? {
        object.withUnsafeBytes {
            var reader = JSONReader($0)
            var members: [String: JSONReader.Value] = [:]
            while let (key, value) = reader.nextMember() { members[key] = value }
            return reader.isComplete ? members : nil
        }
    }

    private static func seconds(_ claim: JSONReader.Value?) -> Int64? {
        let time: Int64?
        switch claim {
        case .number(let number): time = number
        case .string(var text): time = text.withUTF8 { Decimal.read(UnsafeRawBufferPointer($0)) }
        default: time = nil
        }
        guard let time, time >= 0 else { return nil }
        return time >= leastMilliseconds ? time / 1000 : time
    }
}
