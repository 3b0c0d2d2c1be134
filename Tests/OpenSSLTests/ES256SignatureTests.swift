import OpenSSL
import RandomTesting
import Testing

struct ES256SignatureTests {
    private func raw(_ der: [UInt8]) -> [UInt8]? { ES256Signature.raw(fromDER: der) }

    @Test func `short and high numbers are padded`() {
        let r = [UInt8](repeating: 0, count: 31) + [0x7F]
        let s = [0x80] + [UInt8](repeating: 0x11, count: 31)
        let der: [UInt8] = [0x30, 0x26, 0x02, 0x01, 0x7F, 0x02, 0x21, 0x00] + s
        #expect(raw(der) == r + s)
        #expect(ES256Signature.der(fromRaw: r + s) == der)
    }

    @Test func `each form converts to the other and back`() {
        var random = SplitMix(seed: 3)
        for _ in 0..<2000 {
            var bytes = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
            for start in [0, 32] {
                for offset in 0..<Int.random(in: 0...32, using: &random) where Bool.random(using: &random) {
                    bytes[start + offset] = 0
                }
            }
            let der = ES256Signature.der(fromRaw: bytes)
            #expect(raw(der) == bytes)
            // `raw(fromEither:)` takes 64 bytes for a raw signature, so the test skips a DER signature of this length.
            // Real DER signatures are almost never so short.
            if der.count == 64 { continue }
            #expect(ES256Signature.raw(fromEither: der) == bytes)
        }
    }

    @Test(
        arguments: [
            [], [0x30], [0x30, 0x00], [0x30, 0x03, 0x02, 0x01, 0x01], [0x31, 0x06, 2, 1, 1, 2, 1, 1],
            [0x30, 0x07, 2, 1, 1, 2, 1, 1], [0x30, 0x06, 2, 1, 1, 2, 1, 1, 0],
            [0x30, 0x06, 2, 1, 0x81, 2, 1, 1],
            [0x30, 0x05, 2, 0, 2, 1, 1], [0x30, 0x06, 3, 1, 1, 2, 1, 1], [0x30, 0x80, 2, 1, 1, 2, 1, 1],
            [0x30, 0x85, 0, 0, 0, 0, 6, 2, 1, 1, 2, 1, 1], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x30, 0x26, 2, 0x21] + [UInt8](repeating: 1, count: 33) + [2, 1, 1],
        ] as [[UInt8]]) func `bytes that are no signature are refused`(der: [UInt8])
    {
        #expect(raw(der) == nil)
    }

    @Test func `long forms of lengths are read`() {
        #expect(raw([0x30, 0x81, 0x06, 2, 1, 5, 2, 1, 6])?.last == 6)
    }
}
