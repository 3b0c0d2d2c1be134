import RandomTesting
import Testing

@testable import PushModel

struct ShardHashTests {
    /// The test vectors of docs/internals/sharding.md.
    @Test(arguments: [
        (
            "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0", UInt64(0xc223_95a7_eb24_948f),
            15, 15
        ),
        ("0000000000000000000000000000000000000000000000000000000000000000", 0xf6e9_be5d_7063_2cf5, 53, 5),
        ("740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad", 0x7193_a0eb_c855_68d5, 21, 5),
        ("deadbeefdeadbeef", 0xb35e_b5ab_380a_97ce, 14, 14),
        (String(repeating: "ab", count: 100), 0x55fe_38b7_7683_b147, 7, 7),
    ])
    func `computes the published hash`(token: String, hash: UInt64, of64: Int, of16: Int) {
        #expect(XXH64.hash(bytes(hex: token), seed: 0) == hash)
        #expect(ShardHash.shard(of: bytes(hex: token), shards: 64) == of64)
        #expect(ShardHash.shard(of: bytes(hex: token), shards: 16) == of16)
        #expect(ShardHash.shard(of: bytes(hex: token), shards: 1) == 0)
    }

    enum Tokens: CaseIterable { case random, countedAtTheStart, countedAtTheEnd, sharing24Bytes, short }

    /// Chi squared over 64 shards has 63 degrees of freedom: its mean is 63, and it is above 116.7 once in 40,000 times.
    @Test(arguments: Tokens.allCases) func `spreads tokens evenly over 64 shards`(kind: Tokens) {
        var random = SplitMix(seed: 20_240_601)
        let shared = random.bytes(32)
        let count = 64_000
        var hits = [Int](repeating: 0, count: 64)
        for index in 0..<count {
            let number = (0..<4).map { UInt8(truncatingIfNeeded: index >> (24 - 8 * $0)) }
            let token =
                switch kind {
                case .random: ArraySlice(random.bytes(32))
                case .countedAtTheStart: ArraySlice(number) + shared[4...]
                case .countedAtTheEnd: shared[..<28] + number
                case .sharing24Bytes: shared[..<24] + random.bytes(8)
                case .short: ArraySlice(number) + shared[..<4]
                }
            hits[ShardHash.shard(of: Array(token), shards: 64)] += 1
        }
        let expected = Double(count) / 64
        let chiSquared = hits.reduce(0.0) {
            $0 + (Double($1) - expected) * (Double($1) - expected) / expected
        }
        #expect(chiSquared < 116.7)
        #expect(chiSquared > 25, "more even than chance: the tokens or the hash are not what they seem")
    }
}
