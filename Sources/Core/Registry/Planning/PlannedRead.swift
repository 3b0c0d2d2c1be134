/// An index of a partition.
struct PartitionIndex: Hashable, Comparable {
    let partition: Int
    let index: RegistryIndex

    static func < (one: Self, other: Self) -> Bool {
        (one.partition, one.index.rawValue) < (other.partition, other.index.rawValue)
    }
}

/// A read, and where its reply belongs in the plan.
struct PlannedRead {
    enum Purpose {
        case version
        case entries([EntryKey])
        case records([DevicePlace])
        case free
        case divided(PartitionIndex)
        case length(BitsKey)
        case content(BitsKey)
    }

    let purpose: Purpose
    let read: RegistryRead

    init(_ purpose: Purpose, _ read: RegistryRead) { (self.purpose, self.read) = (purpose, read) }

    /// Reads of index entries: one read for each bucket that contains at least one of the entries.
    static func entries(_ keys: Set<EntryKey>, _ partitions: [PartitionCache]) -> [PlannedRead] {
        var buckets: [PartitionIndex: [Int: [EntryKey]]] = [:]
        for key in keys {
            let bucket = key.field.bucket(of: partitions[key.partition].buckets(of: key.index))
            buckets[PartitionIndex(partition: key.partition, index: key.index), default: [:]][
                bucket, default: []
            ].append(key)
        }
        return buckets.sorted { $0.key < $1.key }.flatMap { place, buckets in
            buckets.sorted { $0.key < $1.key }.map { bucket, keys in
                let keys = keys.sorted { $0.field < $1.field }
                let read = RegistryRead(
                    partition: place.partition, key: .index(place.index, bucket: bucket),
                    part: .fields(keys.map(\.field.bytes)))
                return PlannedRead(.entries(keys), read)
            }
        }
    }

    /// Reads of records: one read for each hash that contains at least one of the records.
    static func records(_ places: Set<DevicePlace>) -> [PlannedRead] {
        let blocks = Dictionary(grouping: places) {
            DevicePlace(partition: $0.partition, ordinal: $0.ordinal / RegistryKey.blockSize)
        }
        return blocks.sorted { $0.key < $1.key }.map { block, places in
            let places = places.sorted()
            let fields = places.map { Array(RegistryKey.recordField(of: $0.ordinal).utf8) }
            return PlannedRead(
                .records(places),
                RegistryRead(
                    partition: block.partition, key: .records(block: block.ordinal), part: .fields(fields)))
        }
    }
}
