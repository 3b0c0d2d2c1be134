/// Which shard a device token belongs to: the XXH64, seed 0, of its raw bytes, modulo the number of shards.
///
/// The definition is published (docs/internals/sharding.md) and never changes: another shard would break the order of a
/// device's pushes.
package enum ShardHash {
    package static func shard(of token: UnsafeRawBufferPointer, shards: Int) -> Int {
        Int(XXH64.hash(token, seed: 0) % UInt64(shards))
    }

    package static func shard(of token: [UInt8], shards: Int) -> Int {
        token.withUnsafeBytes { shard(of: $0, shards: shards) }
    }
}
