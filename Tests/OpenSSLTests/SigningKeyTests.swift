import OpenSSL
import Testing

extension String {
    var bytes: [UInt8] { Array(utf8) }
}

@Suite struct SigningKeyTests {
    private static let jwsMessage =
        ("eyJhbGciOiJFUzI1NiJ9"
        + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ")
        .bytes
    /// The signature of RFC 7515, appendix A.3.1.
    private static let jwsSignature: [UInt8] = [
        14, 209, 33, 83, 121, 99, 108, 72, 60, 47, 127, 21, 88, 7, 212, 2, 163, 178, 40, 3, 58, 249, 124, 126,
        23, 129, 154, 195, 22, 158, 166, 101, 197, 10, 7, 211, 140, 60, 112, 229, 216, 241, 45, 175, 8, 74,
        84,
        128, 166, 101, 144, 197, 242, 147, 80, 154, 143, 63, 127, 138, 131, 163, 84, 213,
    ]

    @Test func `the signature of RFC 7515 verifies with both halves of the key`() throws {
        let signing = try SigningKey(pem: Vectors.rfc7515PrivateKey.bytes)
        let verifying = try VerifyingKey(pem: Vectors.rfc7515PublicKey.bytes)
        #expect(verifying.isValid(Self.jwsSignature, for: Self.jwsMessage))
        #expect(signing.verifyingKey.isValid(Self.jwsSignature, for: Self.jwsMessage))
        #expect(signing.fingerprint == verifying.fingerprint)
        #expect(signing.fingerprint == "2bd1bb0c44a897c30a7aa0991cde38d8062fe441de50da0f46825344f602e827")
        #expect(verifying.pem == (Vectors.rfc7515PublicKey + "\n").bytes)
    }

    @Test func `raw and DER signatures verify and each signature has 64 bytes`() throws {
        let key = try SigningKey(pem: SigningKey.makePEM().bytes)
        // The numbers of a signature rarely have leading zeros. Such numbers have a shorter DER form, and the test covers
        // them only in many rounds.
        for round in 0..<600 {
            let message = "message \(round)".bytes
            let signature = key.sign(message)
            #expect(signature.count == 64)
            #expect(key.verifyingKey.isValid(signature, for: message))
            #expect(key.verifyingKey.isValid(der(signature), for: message))
        }
    }

    @Test func `any changed bit makes a signature or a message invalid`() throws {
        let key = try VerifyingKey(pem: Vectors.rfc7515PublicKey.bytes)
        for index in Self.jwsSignature.indices {
            var changed = Self.jwsSignature
            changed[index] ^= 1
            #expect(!key.isValid(changed, for: Self.jwsMessage))
            #expect(!key.isValid(der(changed), for: Self.jwsMessage))
        }
        for index in Self.jwsMessage.indices {
            var changed = Self.jwsMessage
            changed[index] ^= 1
            #expect(!key.isValid(Self.jwsSignature, for: changed))
        }
    }

    @Test(arguments: [
        [], [0x30], [0x30, 0x00], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xFF, count: 64),
        [UInt8](repeating: 0x30, count: 71), Array(jwsSignature.dropLast()), jwsSignature + [0],
    ])
    func `an invalid signature fails and does not affect the next check`(signature: [UInt8]) throws {
        let key = try VerifyingKey(pem: Vectors.rfc7515PublicKey.bytes)
        #expect(!key.isValid(signature, for: Self.jwsMessage))
        #expect(key.isValid(Self.jwsSignature, for: Self.jwsMessage))
    }

    @Test func `a signature of another key is invalid`() throws {
        let key = try SigningKey(pem: SigningKey.makePEM().bytes)
        let other = try SigningKey(pem: SigningKey.makePEM().bytes)
        #expect(!other.verifyingKey.isValid(key.sign("a".bytes), for: "a".bytes))
        #expect(key.fingerprint != other.fingerprint)
    }

    private static let keyLabel = "PRIVATE KEY"

    @Test(arguments: [
        ("", CredentialError.Problem.empty),
        ("\u{FEFF}", .empty),
        ("hello", .notPEM),
        ("MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg", .notPEM),
        (Vectors.encryptedPKCS8, .encrypted),
        (Vectors.encryptedSEC1, .encrypted),
        (Vectors.rfc7515SEC1, .wrongLabel(found: "EC PRIVATE KEY", expected: keyLabel)),
        (Vectors.certificate, .wrongLabel(found: "CERTIFICATE", expected: keyLabel)),
        (Vectors.rfc7515PublicKey, .wrongLabel(found: "PUBLIC KEY", expected: keyLabel)),
        (Vectors.p384, .wrongCurve(found: "secp384r1")),
        (Vectors.ed25519, .wrongKeyType(found: "ED25519")),
        (Vectors.rsa, .wrongKeyType(found: "RSA")),
    ])
    func `a file without a readable P-256 key is refused with the reason`(
        text: String, problem: CredentialError.Problem
    ) {
        #expect(throws: CredentialError(problem)) { try SigningKey(pem: text.bytes) }
    }

    @Test(arguments: [
        Vectors.mismatched,
        "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\n!!!!\n-----END PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEH",
        String(Vectors.rfc7515PrivateKey.dropLast(60)),
    ])
    func `a damaged key is refused`(text: String) throws {
        let error = try #require(throws: CredentialError.self) { try SigningKey(pem: text.bytes) }
        guard case .malformed(let reason) = error.problem else {
            Issue.record("\(error)")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test(arguments: ["\r\n", "\n"], ["", "\u{FEFF}", "Key of Ms. Müller\n\n"])
    func `line ends, a byte order mark and a preface do not matter`(lineEnd: String, preface: String) throws {
        let text = (preface + Vectors.rfc7515PrivateKey + "\n").split(
            separator: "\n", omittingEmptySubsequences: false)
        let key = try SigningKey(pem: text.joined(separator: lineEnd).bytes)
        #expect(key.fingerprint.hasPrefix("2bd1bb0c"))
    }

    @Test func `an error names the missing file with the system's reason`() throws {
        let error = try #require(throws: CredentialError.self) { try SigningKey(file: "/no/such/key.p8") }
        #expect("\(error)" == "/no/such/key.p8: No such file or directory")
        let folder = try #require(throws: CredentialError.self) { try SigningKey(file: "/") }
        #expect("\(folder)" == "/: Is a directory")
    }

    @Test(arguments: [
        (Vectors.p384Public, CredentialError.Problem.wrongCurve(found: "secp384r1")),
        (Vectors.rfc7515PrivateKey, .wrongLabel(found: "PRIVATE KEY", expected: "PUBLIC KEY")), ("", .empty),
    ])
    func `a text that is not a public P-256 key is refused`(text: String, problem: CredentialError.Problem) {
        #expect(throws: CredentialError(problem)) { try VerifyingKey(pem: text.bytes) }
    }

    /// Encodes a raw signature as DER without the tested code.
    private func der(_ raw: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var digits = Array(bytes.drop { $0 == 0 })
            if digits.isEmpty || digits[0] > 0x7F { digits.insert(0, at: 0) }
            return [0x02, UInt8(digits.count)] + digits
        }
        let body = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(body.count)] + body
    }
}
