import StoreProtocol

/// The indexes of all partitions that a plan changes.
struct PlannedIndexes {
    /// The indexes of the first partition, then of the second partition and so on. Nil for an index without entries.
    private var indexes: [PlannedIndex?] = []

    /// Plans no changes.
    init() {}

    /// - Parameters:
    ///   - entries: the entries that the plan has read.
    ///   - before: the last known state of each partition.
    init(_ entries: PlannedEntries, _ before: [PartitionCache], _ keys: RegistryKeys) {
        let places = keys.allPartitions.flatMap { partition in
            RegistryIndex.allCases.map { PartitionIndex(partition: partition, index: $0) }
        }
        var fields = [[PlannedIndex.Entry]](repeating: [], count: places.count)
        for (key, entry) in entries.all {
            let place = PartitionIndex(partition: key.partition, index: key.index)
            fields[place.number].append((key.field, entry))
        }
        indexes = places.map { place in
            let entries = fields[place.number]
            guard !entries.isEmpty else { return nil }
            return PlannedIndex(
                place.index, entries, before[place.partition], bucketEntries: keys.bucketEntries)
        }
    }

    /// Reads of the buckets that the plan divides.
    var dividedReads: [PlannedRead] {
        indexes.enumerated().flatMap { number, planned -> [PlannedRead] in
            guard let planned else { return [] }
            let place = PartitionIndex(
                partition: number / RegistryIndex.allCases.count, index: planned.index)
            return planned.dividedBuckets.map { bucket in
                PlannedRead(
                    .divided(place),
                    RegistryRead(
                        partition: place.partition, key: .index(place.index, bucket: bucket), part: .hash))
            }
        }
    }

    mutating func addDivided(_ content: [(field: [UInt8], value: [UInt8])], of index: PartitionIndex) {
        indexes[index.number]?.addDivided(content)
    }

    /// Returns the changes of a step in a partition, and adds them to the numbers of entries and buckets in `state`.
    func write(_ step: PlanStep, _ partition: Int, _ state: inout PartitionCache) -> [PartitionChange] {
        var changes: [PartitionChange] = []
        for index in RegistryIndex.allCases where !indexes.isEmpty {
            guard let planned = indexes[PartitionIndex(partition: partition, index: index).number] else {
                continue
            }
            let (written, added) = planned.write(step)
            changes += written
            state.add(entries: added, to: index)
            if planned.divides(in: step) { state.setBuckets(planned.bucketsAfter, of: index) }
        }
        return changes
    }
}
