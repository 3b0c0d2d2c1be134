import PushModel

/// A provider token taken apart, as a gateway does before it checks the signature.
///
/// Tolerant where APNs is: `iat` may be a number or text, in seconds or milliseconds; other claims are
/// ignored; the signature may be raw (64 bytes) or DER.
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
            header["alg"]?.string == "ES256", let keyID = header["kid"]?.string,
            let teamID = claims["iss"]?.string,
            let issuedAt = claims["iat"].flatMap({ Self.seconds($0.text) })
        else { return nil }

        guard let raw = signature.withUnsafeBytes({ ECDSASignature.raw(fromEither: $0) }) else { return nil }
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = issuedAt
        self.signedLength = dots[1]
        self.signature = raw
    }

    private struct Member {
        let kind: JSONKind
        let text: String

        var string: String? { kind == .string ? text : nil }
    }

    /// The members of the one JSON object that `object` is; nil if it is none.
    private static func members(of object: [UInt8]) -> [String: Member]? {
        object.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            var members: [String: Member] = [:]
            do throws(JSONError) {
                try scanner.start()
                try scanner.enterObject()
                while let key = try scanner.nextKey() {
                    members[scanner.text(key)] = try member(&scanner)
                }
                try scanner.end()
            } catch {
                return nil
            }
            return members
        }
    }

    private static func member(_ scanner: inout JSONScanner) throws(JSONError) -> Member {
        let kind = try scanner.kind()
        if kind == .string { return Member(kind: kind, text: scanner.text(try scanner.string())) }
        return Member(
            kind: kind, text: String(decoding: scanner.bytes[try scanner.skipValue()], as: UTF8.self))
    }

    /// A time without its fraction.
    private static func seconds(_ text: String) -> Int64? {
        var whole = String(text.prefix { $0 != "." })
        guard let time = whole.withUTF8({ Decimal.read(UnsafeRawBufferPointer($0)) }), time >= 0 else {
            return nil
        }
        return time >= leastMilliseconds ? time / 1000 : time
    }
}
