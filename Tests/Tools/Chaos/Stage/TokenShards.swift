import ChaosChecker
import PushModel

/// Computes the shards of tokens.
enum TokenShards {
    /// Returns the shards of all tokens that the gateway noted.
    static func of(_ notes: [GatewayNote]) -> [String: Int] {
        var shards: [String: Int] = [:]
        for note in notes where shards[note.token] == nil {
            shards[note.token] = ShardHash.shard(of: bytes(note.token), shards: 64)
        }
        return shards
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 1, to: digits.count, by: 2).map { UInt8(digits[$0 - 1] << 4 | digits[$0]) }
    }
}
