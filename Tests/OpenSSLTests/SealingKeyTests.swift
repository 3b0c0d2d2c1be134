import OpenSSL
import PushModel
import Testing

@Suite struct SealingKeyTests {
    private let key: SealingKey
    private let plain = "a provider token".bytes
    private let associated = "{pushfarm}:provider:ABC".bytes

    init() throws {
        key = try SigningKey(pem: Vectors.rfc7515PrivateKey.bytes).sealingKey(purpose: "test")
    }

    @Test func `sealed bytes can be opened and differ each time`() throws {
        let sealed = key.seal(plain, associated: associated)
        #expect(sealed.count == plain.count + 29)
        #expect(sealed != key.seal(plain, associated: associated))
        #expect(try key.open(sealed, associated: associated) == plain)
        #expect(try key.open(key.seal([], associated: []), associated: []) == [])
        let large = SecureRandom.bytes(100_000)
        #expect(try key.open(key.seal(large, associated: []), associated: []) == large)
    }

    /// A secret that Python's `cryptography` sealed with AES-256-GCM.
    /// The key is derived with HKDF from the signing key's private number. The nonce is the bytes 00 to 0b.
    @Test func `a secret that another program sealed can be opened`() throws {
        let text = "01000102030405060708090a0b0ddb377a007501fd3e39f7d91e1d3f8067991579dec181b18022666c3943"
        #expect(try key.open(octets(text), associated: "app 1".bytes) == "provider token".bytes)
    }

    @Test func `any changed bit is detected`() {
        let sealed = key.seal(plain, associated: associated)
        for index in sealed.indices.dropFirst() {
            var changed = sealed
            changed[index] ^= 0x80
            #expect(throws: SealingKey.OpenError.notAuthentic) {
                try key.open(changed, associated: associated)
            }
        }
        var other = sealed
        other[0] = 2
        #expect(throws: SealingKey.OpenError.notSealed) { try key.open(other, associated: associated) }
        for count in 0..<29 {
            let short = Array(sealed.prefix(count))
            #expect(throws: SealingKey.OpenError.notSealed) { try key.open(short, associated: associated) }
        }
    }

    @Test func `another key, purpose or context cannot open a secret`() throws {
        let sealed = key.seal(plain, associated: associated)
        let signing = try SigningKey(pem: Vectors.rfc7515PrivateKey.bytes)
        let others = [
            signing.sealingKey(purpose: "other"),
            try SigningKey(pem: SigningKey.makePEM().bytes).sealingKey(purpose: "test"),
        ]
        for other in others {
            #expect(throws: SealingKey.OpenError.notAuthentic) {
                try other.open(sealed, associated: associated)
            }
        }
        #expect(throws: SealingKey.OpenError.notAuthentic) { try key.open(sealed, associated: []) }
        #expect(try signing.sealingKey(purpose: "test").open(sealed, associated: associated) == plain)
    }

    @Test func `secrets are not printed`() {
        #expect("\(Secret(plain))" == "<secret>")
        #expect(!String(reflecting: key).contains("\(plain[0]), "))
        var text = ""
        dump(key, to: &text)
        #expect(text.contains("secret") && !text.contains("UInt8"))
    }

    /// The test vectors of RFC 5869, appendix A.1 to A.3.
    @Test(arguments: [
        (
            "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "000102030405060708090a0b0c",
            "f0f1f2f3f4f5f6f7f8f9",
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        ),
        (
            "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "", "",
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        ),
    ])
    func `keys are derived as in the RFC`(material: String, salt: String, info: String, key: String) {
        let made = HKDF.sha256(Secret(octets(material)), salt: octets(salt), info: octets(info), length: 42)
        #expect(Hexadecimal.text(of: made) == key)
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `SHA-256 gives the known digests repeatedly`(text: String, digest: String) {
        var hash = SHA256()
        for _ in 0..<3 { #expect(Hexadecimal.text(of: hash.hash(text.bytes)) == digest) }
        #expect(Hexadecimal.text(of: SHA256.hash(text.bytes)) == digest)
    }

    @Test func `random bytes have the requested number and differ`() {
        #expect(SecureRandom.bytes(0) == [])
        #expect(SecureRandom.bytes(33).count == 33)
        #expect(SecureRandom.bytes(16) != SecureRandom.bytes(16))
    }
}

/// Converts hexadecimal text to bytes.
func octets(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
}
