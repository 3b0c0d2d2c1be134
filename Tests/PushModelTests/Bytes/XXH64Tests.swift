import RandomTesting
import Testing

@testable import PushModel

struct XXH64Tests {
    static func input(_ length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: $0 * 131 + 7) }
    }

    @Test(arguments: [
        ("", UInt64(0xEF46_DB37_51D8_E999)), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
    ])
    func `computes the published hashes`(text: String, hash: UInt64) {
        #expect(XXH64.hash(Array(text.utf8), seed: 0) == hash)
    }

    @Test func `agrees with the reference implementation for all sizes and seeds`() {
        for vector in xxh64Vectors {
            #expect(XXH64.hash(Self.input(vector.length), seed: vector.seed) == vector.hash, "\(vector)")
        }
    }

    @Test func `the hash does not depend on the parts of the input`() {
        var random = SplitMix(seed: 11)
        for length in 0...130 {
            let input = Self.input(length)
            let whole = XXH64.hash(input, seed: 3)
            for _ in 0..<8 {
                let first = Int.random(in: 0...length, using: &random)
                let second = Int.random(in: first...length, using: &random)
                var parts = XXH64(seed: 3)
                for part in [input[..<first], input[first..<second], input[second...]] {
                    Array(part).withUnsafeBytes { parts.update($0) }
                }
                #expect(parts.digest == whole, "\(length) bytes cut at \(first) and \(second)")
            }
        }
    }

    @Test func `accepts single bytes`() {
        var parts = XXH64(seed: 0)
        for byte in Self.input(100) { parts.update(byte) }
        #expect(parts.digest == 0x9DDA_DA11_D3DC_2D8F)
    }
}
