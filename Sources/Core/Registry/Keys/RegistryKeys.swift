package import StoreProtocol

/// The place of a device: its partition, and its ordinal in the partition.
///
/// Places are ordered by partition, and then by ordinal.
package struct DevicePlace: Hashable, Comparable, Sendable {
    /// 0...255.
    package let partition: Int
    /// 0...16,777,215.
    package let ordinal: Int

    package init(partition: Int, ordinal: Int) { (self.partition, self.ordinal) = (partition, ordinal) }

    package static func < (one: Self, other: Self) -> Bool {
        (one.partition, one.ordinal) < (other.partition, other.ordinal)
    }

    /// Hashes one number instead of two, because plans look up many places.
    package func hash(into hasher: inout Hasher) { hasher.combine(partition << 24 ^ ordinal) }

    /// The largest ordinal, because index entries have three bytes for it.
    package static let largestOrdinal = 1 << 24 - 1
}

/// The keys of an app's registry.
package struct RegistryKeys: Sendable {
    /// The number of partitions of a new registry.
    package static let partitions = 16
    /// The valid numbers of partitions. With a power of two, the partition depends only on the lowest byte of the hash,
    /// which is not a part of an index entry's field.
    package static let validPartitions = [1, 2, 4, 8, 16, 32, 64, 128, 256]

    /// The number of partitions.
    package let count: Int
    private let partitions: [Keys]
    /// The bits of a hash that become the field of an index entry: all, except in tests that need equal fields.
    let fieldBits: UInt64
    /// The mean number of entries of a bucket of an index.
    let bucketEntries: Int

    /// - Parameter partitions: the number of partitions of the app's registry.
    package init(app: String, partitions count: Int = Self.partitions) {
        self.init(app: app, partitions: count, fieldBits: .max, bucketEntries: 100)
    }

    init(app: String, partitions count: Int, fieldBits: UInt64, bucketEntries: Int) {
        self.count = max(1, count)
        partitions = (0..<self.count).map { Keys(app: app, partition: $0) }
        (self.fieldBits, self.bucketEntries) = (fieldBits, bucketEntries)
    }

    /// The numbers of the partitions.
    package var allPartitions: Range<Int> { 0..<count }

    /// The keys of a partition, 0..<`count`.
    package func keys(ofPartition partition: Int) -> Keys { partitions[partition] }

    /// The prefix of the keys of a partition, `{pushfarm:APP:rNN}:`.
    package func prefix(ofPartition partition: Int) -> [UInt8] { partitions[partition].prefix }

    /// The partition of a device.
    package func partition(ofDevice id: String) -> Int { RegistryHash(id: id).partition(of: count) }

    /// The partition that has the index entry of an address.
    package func partition(ofAddress address: DeviceAddress) -> Int {
        RegistryHash(address).partition(of: count)
    }

    /// The partition that has the index entry of a user.
    package func partition(ofUser user: String) -> Int { RegistryHash(id: user).partition(of: count) }
}

/// A key of a partition, without the partition's prefix.
package enum RegistryKey: Hashable, Sendable {
    /// A hash: version, next ordinal, and numbers of devices, index entries and buckets.
    case meta
    /// A hash: attribute names and their numbers.
    case names
    /// A sorted set: ordinals of removed devices, by the time of the removal in Unix seconds.
    case free
    /// A hash: the records of 128 consecutive ordinals.
    case records(block: Int)
    /// A hash: a bucket of an index.
    case index(RegistryIndex, bucket: Int)
    /// A string: the bits of the attribute with this number, for a chunk of ordinals.
    case bits(name: Int, chunk: Int)

    package var suffix: String {
        switch self {
        case .meta: "meta"
        case .names: "names"
        case .free: "free"
        case .records(let block): Self.recordsName + ":" + String(block)
        case .index(let index, let bucket): index.rawValue + ":" + String(bucket)
        case .bits(let name, let chunk): "bits:" + String(name) + ":" + String(chunk)
        }
    }

    /// The first part of the keys of records.
    static let recordsName = "dev"

    /// The whole key in a partition.
    package func key(_ keys: Keys) -> [UInt8] { keys.prefix + Array(suffix.utf8) }

    /// The number of records of a hash.
    package static let blockSize = 128

    /// The hash that has the record of this ordinal.
    package static func records(of ordinal: Int) -> Self { .records(block: ordinal / blockSize) }

    /// The field of this ordinal in ``records(of:)``.
    package static func recordField(of ordinal: Int) -> String { "\(ordinal % blockSize)" }
}

/// An index of the registry. Its raw value is the first part of its keys.
package enum RegistryIndex: String, CaseIterable, Sendable {
    /// Device ids. An entry is a list of ordinals of this partition, three bytes each.
    case id
    /// Addresses. An entry is a list of partition (one byte) and ordinal (three bytes).
    case token
    /// User ids. An entry is a list of partition (one byte) and ordinal (three bytes).
    case user

    /// The place of the index in ``allCases``.
    var number: Int {
        switch self {
        case .id: 0
        case .token: 1
        case .user: 2
        }
    }

    /// The field of `meta` with the number of entries.
    package var entriesField: String { "\(rawValue)_entries" }
    /// The field of `meta` with the number of buckets.
    package var bucketsField: String { "\(rawValue)_buckets" }
}
