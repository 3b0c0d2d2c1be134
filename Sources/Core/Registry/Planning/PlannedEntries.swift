/// The name of an index entry.
struct EntryKey: Hashable {
    let index: RegistryIndex
    let partition: Int
    let field: IndexField

    init(_ index: RegistryIndex, _ hash: RegistryHash, _ keys: RegistryKeys) {
        (self.index, partition, field) = (
            index, hash.partition(of: keys.count), hash.field(bits: keys.fieldBits)
        )
    }

    /// Hashes only the field, because plans look up many entries. Entries of different indexes rarely have equal fields.
    func hash(into hasher: inout Hasher) { hasher.combine(field) }

    /// The entries that point to a device with this record.
    static func entries(of record: DeviceRecord, _ keys: RegistryKeys) -> [EntryKey] {
        var entries = [EntryKey(.id, RegistryHash(id: record.id), keys)]
        for address in record.addresses {
            entries.append(EntryKey(.token, RegistryHash(address.address), keys))
        }
        if let user = record.user { entries.append(EntryKey(.user, RegistryHash(id: user), keys)) }
        return entries
    }
}

/// An index entry that a plan has read: as it was read, after the step `leave`, and after the whole plan.
struct PlannedEntry {
    let read: IndexEntry
    var left: IndexEntry
    var final: IndexEntry
}

/// The index entries that a plan has read.
struct PlannedEntries {
    private(set) var all: [EntryKey: PlannedEntry] = [:]

    subscript(key: EntryKey) -> PlannedEntry? { all[key] }

    /// Adds an entry that was read. Bytes that are not an entry count as an empty entry, which the plan replaces.
    mutating func add(_ bytes: [UInt8]?, as key: EntryKey, partitions: Int) {
        var entry = bytes.flatMap { IndexEntry(bytes: $0, of: key.index, in: key.partition) } ?? IndexEntry()
        for place in entry.places where place.partition >= partitions { entry.remove(place) }
        all[key] = PlannedEntry(read: entry, left: entry, final: entry)
    }

    /// Plans the entries after the inputs.
    ///
    /// - Parameter kept: entries by which the inputs find devices that they do not name. These entries keep their
    ///   places until the records are written. If the process ends before the records are written, the repeated inputs
    ///   must find the devices again.
    mutating func plan(_ devices: PlannedDevices, kept: Set<EntryKey>, _ keys: RegistryKeys) {
        // The entries of each device that was read, after the inputs.
        var wanted: [DevicePlace: [EntryKey]] = [:]
        for place in devices.known {
            let new = devices.current[place].map { EntryKey.entries(of: $0, keys) } ?? []
            wanted[place] = new
            let old = devices.read[place].map { EntryKey.entries(of: $0, keys) } ?? []
            for key in old where !new.contains(key) {
                all[key]?.final.remove(place)
                if !kept.contains(key) { all[key]?.left.remove(place) }
            }
            for key in new { insert(place, in: key) }
        }
        for (place, record) in devices.current where wanted[place] == nil {
            for key in EntryKey.entries(of: record, keys) { insert(place, in: key) }
        }
        // Remove each place whose record was read and does not belong to the entry. An earlier crash left the place in
        // the entry.
        for at in all.values.indices {
            let key = all.keys[at]
            for place in all.values[at].read.places where !devices.unreadable.contains(place) {
                guard let keys = wanted[place], !keys.contains(key) else { continue }
                all.values[at].final.remove(place)
            }
        }
    }

    /// Adds the place to the final entry, if the entry was read and does not have the place.
    private mutating func insert(_ place: DevicePlace, in key: EntryKey) {
        guard let at = all.index(forKey: key), !all.values[at].final.places.contains(place) else { return }
        all.values[at].final.insert(place)
    }
}
