/// How far the keys of a registry reach in Redis. Without damage, the counts in `meta` reach at least as far.
package struct RegistryExtent: Sendable {
    /// The extent of one partition.
    struct Partition: Equatable, Sendable {
        /// The number of hashes of records, with the hashes before the last one that do not exist.
        var blocks = 0
        /// For each index, the number of buckets, with the buckets before the last one that do not exist.
        var buckets: [RegistryIndex: Int] = [:]
    }

    private let prefixes: [[UInt8]: Int]
    private var partitions: [Partition]
    /// The number of hashes that a partition with all ordinals has.
    private static let mostBlocks = (DevicePlace.largestOrdinal + 1) / RegistryKey.blockSize
    /// More buckets than an index can have.
    private static let mostBuckets = 1 << 22

    package init(_ keys: RegistryKeys) {
        prefixes = Dictionary(
            keys.allPartitions.map { (keys.prefix(ofPartition: $0), $0) },
            uniquingKeysWith: { first, _ in first })
        partitions = keys.allPartitions.map { _ in Partition() }
    }

    /// Adds a key. Keys that are neither hashes of records nor buckets of indexes are ignored.
    package mutating func add(_ key: [UInt8]) {
        guard let brace = key.firstIndex(of: UInt8(ascii: "}")), brace + 1 < key.count,
            let partition = prefixes[Array(key[...(brace + 1)])]
        else { return }
        let words = key[(brace + 2)...].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard words.count == 2, let number = Int(foreign: words[1]), number >= 0 else { return }
        let name = String(decoding: words[0], as: UTF8.self)
        if name == RegistryKey.recordsName, number < Self.mostBlocks {
            partitions[partition].blocks = max(partitions[partition].blocks, number + 1)
        } else if let index = RegistryIndex(rawValue: name), number < Self.mostBuckets {
            partitions[partition].buckets[index] = max(
                partitions[partition].buckets[index, default: 0], number + 1)
        }
    }

    /// The extent of a partition.
    subscript(partition: Int) -> Partition { partitions[partition] }
}
