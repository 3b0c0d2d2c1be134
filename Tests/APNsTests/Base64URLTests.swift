import APNs
import RandomTesting
import Testing

struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"), ("??>>", "Pz8-Pg"), ("\u{FFFF}", "77-_"),
    ]) func `encodes and decodes the vectors of the RFC`(text: String, encoded: String) {
        #expect(String(decoding: Base64URL.encode(text.utf8), as: UTF8.self) == encoded)
        #expect(Base64URL.decode(encoded.utf8) == Array(text.utf8))
    }

    @Test(arguments: [("Zg==", "f"), ("Zm8=", "fo")]) func `tolerates padding`(encoded: String, text: String)
    {
        #expect(Base64URL.decode(encoded.utf8) == Array(text.utf8))
    }

    @Test(arguments: ["Z", "Zm9vY", "Zh", "Zm9", "Zg===", "=", "Z g", "Zm+v", "Zm/v", "Zm9v\n", "é"])
    func `refuses text that is not Base64URL`(encoded: String) {
        #expect(Base64URL.decode(encoded.utf8) == nil)
    }

    @Test func `decodes its own encoding`() {
        var random = SplitMix(seed: 7)
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }
}
