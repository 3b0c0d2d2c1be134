import StoreProtocol

/// Corrects one bucket of an index from the records to which it points, and from the records to which it should point.
package struct BucketRepair {
    private let place: RegistryDamage.BucketPlace
    private let cache: PartitionCache
    private let keys: RegistryKeys
    /// Whether the key is not a hash.
    private let isUnreadable: Bool
    private var entries: [IndexField: IndexEntry] = [:]
    /// The fields that are not entries, or belong to another bucket.
    private var strange: [[UInt8]] = []
    private var needed: [IndexField: Set<DevicePlace>] = [:]
    private var undecided: Set<DevicePlace> = []

    /// - Parameters:
    ///   - cache: the state of the bucket's partition, at the version that the changes expect.
    ///   - fields: the fields of the bucket, none if Redis does not have the key; nil if the key is not a hash.
    package init(
        _ place: RegistryDamage.BucketPlace, _ cache: PartitionCache,
        fields: [(field: [UInt8], value: [UInt8])]?, keys: RegistryKeys
    ) {
        (self.place, self.cache, self.keys, isUnreadable) = (place, cache, keys, fields == nil)
        for (field, value) in fields ?? [] {
            guard let name = IndexField(bytes: field), isHere(name),
                let entry = IndexEntry(bytes: value, of: place.index, in: place.partition)
            else {
                strange.append(field)
                continue
            }
            entries[name] = entry
        }
    }

    private func isHere(_ field: IndexField) -> Bool {
        field.bucket(of: cache.buckets(of: place.index)) == place.bucket
    }

    /// The places to which the bucket points. Their records must be added.
    package var places: Set<DevicePlace> { Set(entries.values.flatMap(\.places)) }

    /// Adds the record at a place. A place without a record is not added.
    ///
    /// - Parameter record: nil if the record cannot be read. Then the entries that point to the place keep it.
    package mutating func add(_ record: DeviceRecord?, at device: DevicePlace) {
        guard let record else {
            undecided.insert(device)
            return
        }
        for key in EntryKey.entries(of: record, keys)
        where key.index == place.index && key.partition == place.partition && isHere(key.field) {
            needed[key.field, default: []].insert(device)
        }
    }

    /// What corrects the bucket. All records must have been added.
    package struct Correction: Sendable {
        package let changes: PlannedChanges
        /// The places that the bucket loses. Another process may be about to write a record that needs one of these places.
        package let removed: Set<DevicePlace>
        /// The places that the bucket gets.
        package let added: Set<DevicePlace>
        /// The number of fields that were not entries of this bucket; 1 for a key that is not a hash.
        package let strange: Int

        /// The partitions that must get new versions after the changes: those of the places that the bucket loses, and of the places
        /// that it gets back.
        ///
        /// - Parameter earlier: the places that earlier corrections of the bucket have removed.
        package func partitions(afterRemovalOf earlier: Set<DevicePlace>) -> [Int] {
            Set(removed.union(added.intersection(earlier)).map(\.partition)).sorted()
        }
    }

    /// The correction; nil if the bucket is correct.
    package var correction: Correction? {
        var (written, removedFields): ([[UInt8]], [[UInt8]]) = ([], strange)
        var (removed, added): (Set<DevicePlace>, Set<DevicePlace>) = ([], [])
        var count = entries.count
        for field in Set(entries.keys).union(needed.keys).sorted() {
            let old = entries[field] ?? IndexEntry()
            let needed = self.needed[field] ?? []
            let kept = old.places.filter { needed.contains($0) || undecided.contains($0) }
            let new = IndexEntry(kept + needed.subtracting(kept).sorted())
            guard new != old else { continue }
            removed.formUnion(old.places.filter { !new.places.contains($0) })
            added.formUnion(new.places.filter { !old.places.contains($0) })
            if new.isEmpty {
                removedFields.append(field.bytes)
                count -= 1
            } else {
                written += [field.bytes, new.bytes(of: place.index)]
                if old.isEmpty { count += 1 }
            }
        }
        guard isUnreadable || !written.isEmpty || !removedFields.isEmpty else { return nil }
        let key = RegistryKey.index(place.index, bucket: place.bucket).suffix
        var changes = isUnreadable ? [PartitionChange(.delete, key, [])] : []
        changes += PartitionChange.split(.setFields, key, written, by: 2)
        changes += PartitionChange.split(.removeFields, key, removedFields)
        var after = cache
        after.add(entries: count - entries.count - strange.count, to: place.index)
        if let meta = after.metaChange(since: cache) { changes.append(meta) }
        return Correction(
            changes: PlannedChanges(partition: place.partition, version: cache.version, changes: changes),
            removed: removed, added: added, strange: isUnreadable ? 1 : strange.count)
    }
}
