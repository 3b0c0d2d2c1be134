import Segments

/// The parts of a registry that disagree with its records, as a check has found them.
///
/// A repair reads each part again before it changes the part. So a part that was found by mistake, because the registry changed
/// during the check, stays as it is.
package struct RegistryDamage: Sendable {
    /// A chunk of ordinals of one partition.
    package struct ChunkPlace: Hashable, Comparable, Sendable {
        package let partition: Int
        package let chunk: Int

        package static func < (one: Self, other: Self) -> Bool {
            (one.partition, one.chunk) < (other.partition, other.chunk)
        }
    }

    /// The wrong bitmaps of a chunk.
    package struct Bitmaps: Sendable {
        /// The numbers of the bitmaps' names.
        package fileprivate(set) var names: Set<Int> = []
        /// The numbers of bitmaps that cannot be read.
        package fileprivate(set) var unreadable: Set<Int> = []
        /// The hashes of the records whose bits are wrong.
        package fileprivate(set) var blocks: Set<Int> = []
    }

    /// A bucket of an index.
    package struct BucketPlace: Hashable, Comparable, Sendable {
        package let partition: Int
        package let index: RegistryIndex
        package let bucket: Int

        package static func < (one: Self, other: Self) -> Bool {
            (one.partition, one.index.rawValue, one.bucket) < (
                other.partition, other.index.rawValue, other.bucket
            )
        }
    }

    package private(set) var bitmaps: [ChunkPlace: Bitmaps] = [:]
    /// The wrong buckets, each with the devices that it lacks.
    package private(set) var buckets: [BucketPlace: Set<DevicePlace>] = [:]
    /// For each partition, the ordinals that are free and have a device, or are neither free nor have a device.
    package private(set) var ordinals: [Int: Set<Int>] = [:]
    private var counts: Set<Int> = []
    /// For each partition, how far its keys reach, if its counts do not reach as far.
    private var extents: [Int: RegistryExtent.Partition] = [:]

    package init() {}

    package var isEmpty: Bool {
        bitmaps.isEmpty && buckets.isEmpty && ordinals.isEmpty && counts.isEmpty && extents.isEmpty
    }

    /// The partitions whose counts are wrong, in ascending order.
    package var partitions: [Int] { counts.union(extents.keys).sorted() }

    /// Whether a partition has records or buckets after the end that its counts name. Then the counts must be corrected before
    /// anything else, because they decide in which bucket an entry belongs.
    package var isBeyondCounts: Bool { !extents.isEmpty }

    /// The number of hashes of records up to the last hash that the check has found after the partition's end.
    package func blocks(ofPartition partition: Int) -> Int { extents[partition]?.blocks ?? 0 }

    /// The number of buckets up to the last bucket that the check has found after the index's end.
    package func buckets(of index: RegistryIndex, ofPartition partition: Int) -> Int {
        extents[partition]?.buckets[index] ?? 0
    }

    mutating func add(unreadable name: Int, chunk: Int, of partition: Int) {
        bitmaps[ChunkPlace(partition: partition, chunk: chunk), default: Bitmaps()].unreadable.insert(name)
    }

    /// - Parameter ordinals: the ordinals of the chunk whose bits are wrong.
    mutating func add(bitmap name: Int, chunk: Int, of partition: Int, ordinals: [UInt16]) {
        let first = chunk * OrdinalChunk.size / RegistryKey.blockSize
        let place = ChunkPlace(partition: partition, chunk: chunk)
        bitmaps[place, default: Bitmaps()].names.insert(name)
        bitmaps[place, default: Bitmaps()].blocks.formUnion(
            ordinals.map { first + Int($0) / RegistryKey.blockSize })
    }

    mutating func add(bucket: Int, _ index: RegistryIndex, of partition: Int, lacks place: DevicePlace? = nil)
    {
        let bucket = BucketPlace(partition: partition, index: index, bucket: bucket)
        buckets[bucket, default: []].formUnion(place.map { [$0] } ?? [])
    }

    mutating func add(ordinals some: [Int], of partition: Int) {
        if !some.isEmpty { ordinals[partition, default: []].formUnion(some) }
    }

    mutating func add(countsOf partition: Int) { counts.insert(partition) }

    mutating func add(_ extent: RegistryExtent.Partition, of partition: Int) { extents[partition] = extent }
}
