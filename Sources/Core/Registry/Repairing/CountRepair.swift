import StoreProtocol

/// Corrects the counts and the free ordinals of one partition.
package struct CountRepair {
    private let partition: Int
    private let cache: PartitionCache

    /// - Parameter cache: the state of the partition, at the version that the changes expect.
    package init(partition: Int, _ cache: PartitionCache) {
        (self.partition, self.cache) = (partition, cache)
    }

    /// The numbers that were counted in Redis.
    package struct Counts: Sendable {
        package var devices = 0
        /// The highest ordinal that has a record; -1 without records.
        package var highest = -1
        /// The number of entries of each index.
        package var entries: [RegistryIndex: Int] = [:]
        /// For each index, the number of buckets up to the last bucket that exists.
        package var buckets: [RegistryIndex: Int] = [:]
        /// Members of the sorted set `free` that are not ordinals below the partition's end.
        package var strange: [String] = []
        /// Whether the key `free` is not a sorted set.
        package var isFreeUnreadable = false

        package init() {}
    }

    /// The changes that correct the counts; nil if they are correct. The numbers of ordinals and buckets never become smaller.
    package func changes(_ counts: Counts) -> PlannedChanges? {
        var after = cache
        after.devices = counts.devices
        after.next = max(cache.next, counts.highest + 1)
        for index in RegistryIndex.allCases {
            after.add(entries: counts.entries[index, default: 0] - cache.entries(of: index), to: index)
            after.setBuckets(max(cache.buckets(of: index), counts.buckets[index, default: 0]), of: index)
        }
        var changes: [PartitionChange] = []
        if counts.isFreeUnreadable { changes.append(PartitionChange(.delete, RegistryKey.free.suffix, [])) }
        changes += PartitionChange.split(
            .removeMembers, RegistryKey.free.suffix, counts.strange.map { Array($0.utf8) })
        if let meta = after.metaChange(since: cache) { changes.append(meta) }
        return planned(changes)
    }

    /// Whether a member of the sorted set `free` is an ordinal below the partition's end.
    package func isOrdinal(_ member: String) -> Bool {
        Int(foreign: member).map { (0..<cache.next).contains($0) } ?? false
    }

    /// The changes that correct free ordinals; nil if they are correct.
    ///
    /// - Parameters:
    ///   - used: the examined ordinals that have a record.
    ///   - free: the examined ordinals that are free.
    ///   - ordinals: the examined ordinals.
    ///   - now: the time in Unix seconds, which becomes the time of the removal.
    package func changes(
        used: Set<Int>, free: Set<Int>, of ordinals: Set<Int>, now: Int64
    ) -> PlannedChanges? {
        let wrong = free.intersection(used).sorted()
        let missing = ordinals.subtracting(used).subtracting(free).filter { $0 < cache.next }.sorted()
        return planned(
            PartitionChange.split(
                .addMembers, RegistryKey.free.suffix,
                missing.flatMap { [Array("\(now)".utf8), Array("\($0)".utf8)] }, by: 2)
                + PartitionChange.split(
                    .removeMembers, RegistryKey.free.suffix, wrong.map { Array("\($0)".utf8) }))
    }

    private func planned(_ changes: [PartitionChange]) -> PlannedChanges? {
        changes.isEmpty
            ? nil : PlannedChanges(partition: partition, version: cache.version, changes: changes)
    }
}
