import APNs
import Testing

struct ProviderTokenTests {
    private static let signature = (0..<64).map { UInt8($0 + 1) }

    @Test func `signs the header and the claims`() {
        var signed: [UInt8] = []
        let token = ProviderToken.make(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", issuedAt: 1_437_179_036) {
            signed = $0
            return Self.signature
        }
        // {"alg":"ES256","kid":"ABC123DEFG"} and {"iss":"DEF123GHIJ","iat":1437179036}
        let input =
            "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNDM3MTc5MDM2fQ"
        #expect(String(decoding: signed, as: UTF8.self) == input)
        #expect(token.starts(with: Array((input + ".").utf8)))
    }

    @Test func `an error of the signature reaches the caller`() {
        struct NoKey: Error {}
        #expect(throws: NoKey.self) {
            try ProviderToken.make(keyID: "K", teamID: "T", issuedAt: 0) { _ throws(NoKey) in throw NoKey() }
        }
    }

    @Test func `ids are quoted`() throws {
        let input = ProviderToken.signingInput(keyID: "a\"b\\c\u{1}", teamID: "é\n", issuedAt: 5)
        let parts = input.split(separator: UInt8(ascii: ".")).map { Base64URL.decode($0) ?? [] }
        #expect(
            parts.map { String(decoding: $0, as: UTF8.self) } == [
                #"{"alg":"ES256","kid":"a\"b\\c\u0001"}"#, #"{"iss":"é\n","iat":5}"#,
            ])
    }
}
