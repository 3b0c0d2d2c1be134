import APNs
import OpenSSL
import RandomTesting
import Testing

@testable import Simulator

struct ProviderTokenPartsTests {
    private static let signature = (0..<64).map { UInt8($0 + 1) }

    private func token(_ header: String, _ claims: String, signature: [UInt8] = signature) -> [UInt8] {
        Base64URL.encode(header.utf8) + Array(".".utf8) + Base64URL.encode(claims.utf8) + Array(".".utf8)
            + Base64URL.encode(signature)
    }

    private func parts(_ bytes: [UInt8]) -> ProviderTokenParts? {
        bytes.withUnsafeBytes { ProviderTokenParts($0) }
    }

    @Test func `the signed part is read`() throws {
        let token = ProviderToken.make(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", issuedAt: 1_437_179_036) {
            _ in Self.signature
        }
        // The texts {"alg":"ES256","kid":"ABC123DEFG"} and {"iss":"DEF123GHIJ","iat":1437179036} in Base64.
        let input =
            "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNDM3MTc5MDM2fQ"
        let parts = try #require(self.parts(token))
        #expect(parts.keyID == "ABC123DEFG")
        #expect(parts.teamID == "DEF123GHIJ")
        #expect(parts.issuedAt == 1_437_179_036)
        #expect(parts.signedLength == input.utf8.count)
        #expect(parts.signature == Self.signature)
    }

    @Test func `ids are quoted`() {
        let token = ProviderToken.make(keyID: "a\"b\\c\u{1}", teamID: "é\n", issuedAt: 5) { _ in
            Self.signature
        }
        #expect(parts(token)?.keyID == "a\"b\\c\u{1}")
        #expect(parts(token)?.teamID == "é\n")
    }

    @Test(arguments: [
        (#"1437179036"#, 1_437_179_036), (#""1437179036""#, 1_437_179_036),
        (#"1437179036123"#, 1_437_179_036),
        (#""1437179036123""#, 1_437_179_036), (#"1437179036.75"#, 1_437_179_036), ("0", 0),
        ("99999999999", 99_999_999_999), ("100000000000", 100_000_000),
    ]) func `times may be texts or milliseconds`(iat: String, seconds: Int64) {
        let bytes = token(
            #"{"kid":"K","typ":"JWT","alg":"ES256"}"#, #"{"kid":"K","iat":\#(iat),"x":[1],"iss":"T"}"#)
        #expect(parts(bytes)?.issuedAt == seconds)
    }

    @Test func `a signature may have DER form`() throws {
        let der = ES256Signature.der(fromRaw: Self.signature)
        let bytes = token(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":1}"#, signature: der)
        #expect(parts(bytes)?.signature == Self.signature)
    }

    @Test func `texts other than provider tokens are refused`() {
        let header = #"{"alg":"ES256","kid":"K"}"#
        let claims = #"{"iss":"T","iat":1}"#
        let good = token(header, claims)
        #expect(parts(good) != nil)
        for (header, claims) in [
            (#"{"alg":"none","kid":"K"}"#, claims), (#"{"alg":"HS256","kid":"K"}"#, claims),
            (#"{"alg":"ES256"}"#, claims),
            (#"{"alg":"ES256","kid":5}"#, claims), (#"{"kid":"K"}"#, claims), ("{}", claims), ("", claims),
            (header, ""), (header, "{}"), (header, #"{"iss":"T"}"#), (header, #"{"iat":1}"#),
            (header, #"{"iss":"T","iat":"x"}"#), (header, #"{"iss":"T","iat":-1}"#),
            (header, #"{"iss":"T","iat":1e9}"#),
            (header, #"{"iss":"T","iat":1}x"#), (header, #"{"iss":7,"iat":1}"#),
        ] {
            #expect(parts(token(header, claims)) == nil, "\(header) \(claims)")
        }
        for signature in [[], [1, 2, 3], Array(Self.signature.dropLast()), Self.signature + [0]] {
            #expect(parts(token(header, claims, signature: signature)) == nil)
        }
        #expect(parts([]) == nil)
        #expect(parts(Array("..".utf8)) == nil)
        #expect(parts(good + Array(".x".utf8)) == nil)
        #expect(parts(Array("a.b.c".utf8)) == nil)
    }

    @Test func `random bytes do not crash the parser`() {
        var random = SplitMix(seed: 9)
        let good = token(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":1437179036}"#)
        for _ in 0..<5000 {
            var bytes = good
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            if Bool.random(using: &random) {
                bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
            }
            _ = parts(bytes)
        }
    }

    @Test(arguments: [
        ("bearer abc", "abc" as String?), ("Bearer abc", "abc"), ("BEARER   abc", "abc"), ("bearer", nil),
        ("bearer ", nil),
        ("bearer   ", nil), ("bearerabc", nil), ("basic abc", nil), ("", nil), ("beare\u{12} abc", nil),
    ]) func `the token is found in an authorization header`(value: String, token: String?) {
        let found = Array(value.utf8).withUnsafeBytes {
            ProviderTokenParts.token(inAuthorization: $0).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(found == token)
    }
}
