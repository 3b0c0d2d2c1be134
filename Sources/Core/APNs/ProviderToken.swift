import PushModel

/// Makes the JSON Web Token that authenticates a provider to APNs: ES256 over key id, team id and time.
/// - Source: Apple, "Establishing a token-based connection to APNs"; RFC 7515, 7518 3.4.
package enum ProviderToken {
    /// The length of the signature: r and s, 32 bytes each, big-endian.
    package static let signatureLength = 64

    /// Returns the signed part of the token: header and claims, each in Base64URL, separated by a dot.
    ///
    /// - Parameter issuedAt: the time of issue in seconds since 1970.
    package static func signingInput(keyID: String, teamID: String, issuedAt: Int64) -> [UInt8] {
        let header = #"{"alg":"ES256","kid":\#(quoted(keyID))}"#
        let claims = #"{"iss":\#(quoted(teamID)),"iat":\#(issuedAt)}"#
        return Base64URL.encode(header.utf8) + [UInt8(ascii: ".")] + Base64URL.encode(claims.utf8)
    }

    /// Returns the complete token.
    ///
    /// - Parameter sign: a function that signs its input and returns a signature of ``signatureLength`` bytes. If it
    ///   throws an error, `make` throws the same error.
    package static func make<Failure: Error>(
        keyID: String, teamID: String, issuedAt: Int64, sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        let input = signingInput(keyID: keyID, teamID: teamID, issuedAt: issuedAt)
        let signature = try sign(input)
        precondition(signature.count == signatureLength, "a signature of \(signature.count) bytes")
        return input + [UInt8(ascii: ".")] + Base64URL.encode(signature)
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        JSONText.append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
