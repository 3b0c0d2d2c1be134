package import RedisProtocol
package import Segments
import StoreProtocol

/// What a reader knows about a partition before it reads bitmaps, index entries or records.
package struct PartitionState: Sendable {
    /// The number of stored devices.
    package let devices: Int
    /// The smallest ordinal that no device has had yet.
    package let next: Int
    package let names: AttributeNames
    /// The first day of `seen` that has its own bitmap, as a number of days since 1970 in UTC.
    private let firstDay: Int

    /// The ordinals of a partition: 0..<this number.
    private static let ordinals = DevicePlace.largestOrdinal + 1

    /// Reads the replies to HGETALL of the hashes `meta` and `names`. A partition without devices has neither hash.
    /// - Returns: nil unless both replies are hashes.
    package init?(meta: RESPValue, names: RESPValue) {
        guard meta.array != nil, names.array != nil else { return nil }
        let fields = meta.fields
        func number(_ name: String) -> Int {
            min(max(fields[name].flatMap { Int(foreign: $0) } ?? 0, 0), Self.ordinals)
        }
        (next, devices) = (number("next"), number("devices"))
        firstDay = number(SeenBitmaps.firstDayField)
        self.names = AttributeNames(fields: names.pairs.map { ($0.name.text ?? "", $0.value.text ?? "") })
    }

    /// The number of chunks that can have bits.
    package var chunks: Int { (next + OrdinalChunk.size - 1) / OrdinalChunk.size }

    /// The number of hashes that can have records.
    package var blocks: Int { (next + RegistryKey.blockSize - 1) / RegistryKey.blockSize }

    /// Reads the number of buckets of an index: the reply to HGET of ``RegistryIndex/bucketsField`` of the hash `meta`.
    /// - Returns: at least 1, because an index without entries counts as one bucket.
    package static func buckets(_ reply: RESPValue) -> Int {
        min(max(reply.text.flatMap { Int(foreign: $0) } ?? 1, 1), 1 << 32)
    }

    /// The numbers of the partition's bitmaps.
    package var attributes: AttributeNumbers {
        AttributeNumbers(
            Dictionary(names.all.map { ($0.key.text, $0.value) }, uniquingKeysWith: { first, _ in first }),
            daysFrom: firstDay)
    }
}

/// A device, and its place in the registry.
package struct StoredDevice: Equatable, Sendable {
    package let place: DevicePlace
    package let record: DeviceRecord

    package init(place: DevicePlace, record: DeviceRecord) { (self.place, self.record) = (place, record) }
}
