import PushModel

/// The hash of a device id, of an address or of a user id. The hash decides the partition, the bucket and the field of
/// an index entry.
///
/// The value is XXH64 with seed 0. The partition is the value modulo the number of partitions. The field of an index entry is the
/// six highest bytes, and the bucket depends on these six bytes only, so that a bucket can be divided without reading records.
package struct RegistryHash: Hashable, Comparable, Sendable {
    private let value: UInt64

    package static func < (one: Self, other: Self) -> Bool { one.value < other.value }

    package init(_ bytes: [UInt8]) { value = XXH64.hash(bytes, seed: 0) }

    /// The hash of a device id or of a user id.
    package init(id: String) {
        var id = id
        value = id.withUTF8 { XXH64.hash(UnsafeRawBufferPointer($0), seed: 0) }
    }

    /// The hash of an address.
    package init(_ address: DeviceAddress) { self.init(address.identity) }

    /// The partition in a registry with `count` partitions, 1...256.
    package func partition(of count: Int) -> Int { Int(foreign: value % UInt64(clamping: max(1, count))) }

    /// The field of an index entry: six bytes.
    package var field: IndexField { IndexField(value >> 16) }

    /// The field with all bits outside the mask set to 0. Tests use this to make fields of different ids equal.
    func field(bits mask: UInt64) -> IndexField { IndexField(value >> 16 & mask) }
}

/// The field of an index entry: the six highest bytes of a ``RegistryHash``.
package struct IndexField: Hashable, Comparable, Sendable {
    private let value: UInt64

    fileprivate init(_ value: UInt64) { self.value = value }

    /// Reads the field of a hash in Redis; nil unless `bytes` has six elements.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 6 else { return nil }
        value = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    package static func < (one: Self, other: Self) -> Bool { one.value < other.value }

    /// Six bytes, big-endian.
    package var bytes: [UInt8] {
        [
            UInt8(truncatingIfNeeded: value >> 40), UInt8(truncatingIfNeeded: value >> 32),
            UInt8(truncatingIfNeeded: value >> 24), UInt8(truncatingIfNeeded: value >> 16),
            UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value),
        ]
    }

    /// The bucket of the field, by linear hashing, in an index with `count` buckets.
    ///
    /// With n buckets and p the largest power of two of at most n, the bucket is the field modulo 2p, or modulo p if that bucket
    /// does not exist yet. So the n-th division moves entries only from bucket n - p to bucket n.
    package func bucket(of count: Int) -> Int {
        let count = UInt64(clamping: max(1, count))
        let power = UInt64(1) << UInt64(63 - count.leadingZeroBitCount)
        let bucket = value % (2 * power)
        return Int(foreign: bucket < count ? bucket : value % power)
    }

    /// The number of the bucket that is divided when an index with `count` buckets gets one more bucket.
    package static func divided(by count: Int) -> Int {
        let count = UInt64(clamping: max(1, count))
        return Int(foreign: count - UInt64(1) << UInt64(63 - count.leadingZeroBitCount))
    }
}
