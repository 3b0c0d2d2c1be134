import StoreProtocol

/// The indexes of all partitions that a plan changes.
struct PlannedIndexes {
    private var indexes: [PartitionIndex: PlannedIndex] = [:]

    /// Plans no changes.
    init() {}

    /// - Parameters:
    ///   - entries: the entries that the plan has read.
    ///   - before: the last known state of each partition.
    init(_ entries: PlannedEntries, _ before: [PartitionCache], _ keys: RegistryKeys) {
        var fields: [PartitionIndex: [IndexField: PlannedEntry]] = [:]
        for (key, entry) in entries.all {
            fields[PartitionIndex(partition: key.partition, index: key.index), default: [:]][key.field] =
                entry
        }
        for (place, entries) in fields {
            indexes[place] = PlannedIndex(
                place.index, entries, before[place.partition], bucketEntries: keys.bucketEntries)
        }
    }

    /// Reads of the buckets that the plan divides.
    var dividedReads: [PlannedRead] {
        indexes.sorted { $0.key < $1.key }.flatMap { place, index in
            index.dividedBuckets.map { bucket in
                PlannedRead(
                    .divided(place),
                    RegistryRead(
                        partition: place.partition, key: .index(index.index, bucket: bucket), part: .hash))
            }
        }
    }

    mutating func addDivided(_ content: [(field: [UInt8], value: [UInt8])], of index: PartitionIndex) {
        indexes[index]?.addDivided(content)
    }

    /// Returns the changes of a step in a partition, and adds them to the numbers of entries and buckets in `state`.
    func write(_ step: PlanStep, _ partition: Int, _ state: inout PartitionCache) -> [PartitionChange] {
        var changes: [PartitionChange] = []
        for index in RegistryIndex.allCases {
            guard let planned = indexes[PartitionIndex(partition: partition, index: index)] else { continue }
            let (written, added) = planned.write(step)
            changes += written
            state.add(entries: added, to: index)
            if planned.divides(in: step) { state.setBuckets(planned.bucketsAfter, of: index) }
        }
        return changes
    }
}
