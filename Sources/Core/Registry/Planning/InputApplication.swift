/// Applies inputs, in order, to the devices that a plan has read.
///
/// Nothing is written. The plan then compares each device before the first input with the same device after the last
/// input. So several inputs for one device or address cause one change of its record.
struct InputApplication {
    private let keys: RegistryKeys
    private let now: Int64
    private let entries: PlannedEntries
    /// The bitmaps of `seen` of each partition.
    private let seen: [SeenBitmaps]
    private(set) var devices: PlannedDevices
    private(set) var names: [AttributeNames]
    private(set) var ordinals: [PlannedOrdinals]
    /// The places that the inputs add to each entry.
    private var added: [EntryKey: [DevicePlace]] = [:]

    init(
        _ devices: PlannedDevices, _ entries: PlannedEntries, names: [AttributeNames],
        seen: [SeenBitmaps], ordinals: [PlannedOrdinals], keys: RegistryKeys, now: Int64
    ) {
        (self.devices, self.entries, self.names, self.ordinals) = (devices, entries, names, ordinals)
        (self.seen, self.keys, self.now) = (seen, keys, now)
    }

    /// Makes room for as many new devices.
    mutating func reserve(_ count: Int) { devices.reserve(count) }

    mutating func apply(_ input: DeviceInput) -> DeviceResult {
        do throws(DeviceRefusal) {
            switch input {
            case .set(let fields): try set(fields)
            case .change(let id, let add, let remove): try change(id, add, remove)
            case .remove(let id, let day): try remove(id, seenUntil: day)
            case .forget(let user): try forget(user)
            case .invalidate(let address, let time):
                try checkReadable(EntryKey(.token, RegistryHash(address), keys))
                devices.leave(address) { $0.since <= time }
            }
            return .applied
        } catch {
            return .refused(error)
        }
    }

    private mutating func set(_ fields: DeviceFields) throws(DeviceRefusal) {
        if let field = DeviceLimits.fault(in: fields) { throw .limit(field: field) }
        let known = devices.place(ofDevice: fields.id)
        let old = known.flatMap { devices.current[$0] }
        let record = DeviceRecord(fields, replacing: old, now: now)
        let keys = EntryKey.entries(of: record, keys)
        for key in keys {
            // An unreadable record of the same user does not matter, because it is the record of another device.
            if key.index != .user { try checkReadable(key) }
            try checkRoom(key, for: known, record)
        }
        let partition = keys[0].partition
        let numbers = try addNames(of: record, in: partition)
        let place: DevicePlace
        if let known {
            place = known
        } else {
            guard let ordinal = ordinals[partition].take() else { throw .partitionFull }
            place = DevicePlace(partition: partition, ordinal: ordinal)
        }
        for address in record.addresses { devices.leave(address.address, except: place) { _ in true } }
        for key in keys where !(places(in: key).contains(place)) { added[key, default: []].append(place) }
        devices.set(record, at: place, numbers: numbers)
    }

    private mutating func change(
        _ id: String, _ addTags: [String], _ removeTags: [String]
    ) throws(DeviceRefusal) {
        guard DeviceLimits.areValues(addTags) else { throw .limit(field: "add_tags") }
        let entry = EntryKey(.id, RegistryHash(id: id), keys)
        guard let place = devices.place(ofDevice: id), var record = devices.current[place] else {
            try checkReadable(entry)
            throw .unknownDevice(id: id)
        }
        record.change(addTags: addTags, removeTags: removeTags)
        guard record.tags.count <= DeviceLimits.tags else { throw .tooManyTags }
        let numbers = try addNames(of: record, in: place.partition)
        devices.set(record, at: place, numbers: numbers)
    }

    private mutating func remove(_ id: String, seenUntil day: Int?) throws(DeviceRefusal) {
        guard let place = devices.place(ofDevice: id), let record = devices.current[place] else {
            return try checkReadable(EntryKey(.id, RegistryHash(id: id), keys))
        }
        guard record.lastSeenDay <= day ?? .max else { return }
        devices.remove(at: place)
    }

    private mutating func forget(_ user: String) throws(DeviceRefusal) {
        try checkReadable(EntryKey(.user, RegistryHash(id: user), keys))
        for place in devices.places(ofUser: user) { devices.remove(at: place) }
    }

    /// Adds the names of the record's attributes to the dictionary.
    ///
    /// - Returns: the numbers of the attributes, in their order.
    private mutating func addNames(
        of record: DeviceRecord, in partition: Int
    ) throws(DeviceRefusal) -> [Int]? {
        let attributes = record.attributes(seen[partition])
        if let numbers = names[partition].numbers(of: attributes) { return numbers }
        if let name = names[partition].add(all: attributes) { throw .tooManyNames(name) }
        return names[partition].numbers(of: attributes)
    }

    /// Refuses the input if the entry points to an unreadable record, because this may be the record of the device that
    /// the input names.
    private func checkReadable(_ key: EntryKey) throws(DeviceRefusal) {
        let places = entries[key]?.read.places ?? []
        if let place = places.first(where: devices.unreadable.contains) { throw .unreadableRecord(place) }
    }

    /// Checks that the entry has room for one more place, or that `place` is one of its places.
    private func checkRoom(
        _ key: EntryKey, for place: DevicePlace?, _ record: DeviceRecord
    ) throws(DeviceRefusal) {
        let places = places(in: key)
        let most = key.index == .user ? DeviceLimits.devicesOfUser : DeviceLimits.collisions
        guard places.count >= most else { return }
        guard let place, places.contains(place) else {
            throw key.index == .user
                ? .tooManyDevices(user: record.user ?? "") : .tooManyCollisions(key.index)
        }
    }

    private func places(in key: EntryKey) -> [DevicePlace] {
        let read = entries[key]?.read.places ?? []
        guard let added = added[key] else { return read }
        return read + added
    }
}
