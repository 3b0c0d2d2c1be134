import APNs
import OpenSSL
import PushModel

/// The parts of a provider token, before the signature is checked.
///
/// The parser is as tolerant as APNs: `iat` may be a number or text, in seconds or milliseconds; other claims are
/// ignored; the signature may be raw (64 bytes) or DER.
struct ProviderTokenParts: Hashable, Sendable {
    /// Numbers of this size or larger are times in milliseconds, not seconds.
    private static let leastMilliseconds: Int64 = 100_000_000_000

    let keyID: String
    let teamID: String
    /// The claim `iat` in seconds since 1970.
    let issuedAt: Int64
    /// The number of signed bytes at the start of the token.
    let signedLength: Int
    /// The signature: r and s, 32 bytes each, big-endian.
    let signature: [UInt8]

    /// Returns nil if the token is malformed, is not signed with ES256, or has no key id, team id or `iat`.
    init?(_ token: UnsafeRawBufferPointer) {
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

        guard let raw = ES256Signature.raw(fromEither: signature) else { return nil }
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = issuedAt
        self.signedLength = dots[1]
        self.signature = raw
    }

    /// The token in the value of an `authorization` header; nil if the value is not a bearer token, or is empty.
    static func token(inAuthorization value: UnsafeRawBufferPointer)
        -> UnsafeRawBufferPointer?
    {
        let scheme: StaticString = "bearer "
        let length = scheme.utf8CodeUnitCount
        guard value.count > length else { return nil }
        for offset in 0..<length - 1 where value[offset] | 0x20 != scheme.utf8Start[offset] { return nil }
        guard value[length - 1] == UInt8(ascii: " ") else { return nil }
        let token = value[length...].drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: token)
    }

    private struct Member {
        let kind: JSONKind
        let text: String

        var string: String? { kind == .string ? text : nil }
    }

    /// The members of a JSON object; nil if `object` is not exactly one JSON object.
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

    /// Reads a time as a whole number, and drops a fraction.
    private static func seconds(_ text: String) -> Int64? {
        var whole = String(text.prefix { $0 != "." })
        guard let time = whole.withUTF8({ Decimal.read(UnsafeRawBufferPointer($0)) }), time >= 0 else {
            return nil
        }
        return time >= leastMilliseconds ? time / 1000 : time
    }
}

/// Decides which provider tokens one connection of a gateway accepts.
///
/// The first accepted token binds the connection to its team and key. By default, a token is valid for an hour, and a different
/// token is accepted at the earliest 20 minutes after the previous token. Times are seconds since 1970. The caller must check the
/// signature.
/// - Source: Apple, "Establishing a token-based connection to APNs". Apple does not document the reasons of two refusals: a token
///   of another team, and an `iat` in the future. This project has chosen these reasons.
struct ProviderTokenRules: Hashable, Sendable {
    let lifetime: Int64
    let updateInterval: Int64
    private var accepted: ProviderTokenParts?
    private var acceptedAt: Int64 = 0

    init(lifetime: Int64 = 3600, updateInterval: Int64 = 20 * 60) {
        self.lifetime = lifetime
        self.updateInterval = updateInterval
    }

    /// Judges a token that differs from the last accepted token.
    ///
    /// - Parameter isSigned: true if the key is known, belongs to the team and made the signature.
    /// - Returns: why the token is refused; nil if it is accepted and becomes the connection's token.
    mutating func refusal(of token: ProviderTokenParts, isSigned: Bool, now: Int64) -> Reason? {
        guard isSigned, token.issuedAt - now <= lifetime else { return .invalidProviderToken }
        guard now - token.issuedAt <= lifetime else { return .expiredProviderToken }
        if let accepted {
            guard token.teamID == accepted.teamID else { return .invalidProviderToken }
            guard token.keyID == accepted.keyID else { return .unrelatedKeyIDInToken }
            guard now - acceptedAt >= updateInterval || token == accepted else {
                return .tooManyProviderTokenUpdates
            }
        }
        if token != accepted {
            accepted = token
            acceptedAt = now
        }
        return nil
    }

    /// Returns why the last accepted token is refused when a client sends it again; nil if the token is still valid.
    func refusalOfRepeated(now: Int64) -> Reason? {
        guard let accepted else { preconditionFailure("no provider token was accepted before") }
        return now - accepted.issuedAt <= lifetime ? nil : .expiredProviderToken
    }
}
