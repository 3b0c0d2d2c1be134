/// An index of a partition.
struct PartitionIndex: Hashable, Comparable {
    let partition: Int
    let index: RegistryIndex

    /// The number of the index among the indexes of all partitions.
    var number: Int { partition * RegistryIndex.allCases.count + index.number }

    static func < (one: Self, other: Self) -> Bool { one.number < other.number }
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
    ///
    /// - Parameter keys: the entries, in any order. An entry may occur several times.
    static func entries(_ keys: [EntryKey], _ partitions: [PartitionCache]) -> [PlannedRead] {
        var found = keys.map { key in
            (
                key: key, index: PartitionIndex(partition: key.partition, index: key.index).number,
                bucket: key.field.bucket(of: partitions[key.partition].buckets(of: key.index))
            )
        }
        found.sort { ($0.index, $0.bucket, $0.key.field) < ($1.index, $1.bucket, $1.key.field) }
        var reads: [PlannedRead] = []
        var start = 0
        while start < found.count {
            let (key, index, bucket) = found[start]
            var keys = [key]
            start += 1
            while start < found.count, found[start].index == index, found[start].bucket == bucket {
                if keys.last != found[start].key { keys.append(found[start].key) }
                start += 1
            }
            let read = RegistryRead(
                partition: key.partition, key: .index(key.index, bucket: bucket),
                part: .fields(keys.map(\.field.bytes)))
            reads.append(PlannedRead(.entries(keys), read))
        }
        return reads
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
