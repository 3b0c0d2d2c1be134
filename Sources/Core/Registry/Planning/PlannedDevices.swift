/// The devices that a plan knows: as they were read, and as they are after the inputs so far.
///
/// Ids, addresses and users are compared by their bytes, as in the indexes.
struct PlannedDevices {
    /// The records as they were read.
    private(set) var read: [DevicePlace: DeviceRecord] = [:]
    /// The records after the inputs so far.
    private(set) var current: [DevicePlace: DeviceRecord] = [:]
    /// The numbers of the attributes of some records in ``current``, in the order of the attributes.
    private(set) var numbers: [DevicePlace: [Int]] = [:]
    /// The places that were read, with or without a record.
    private(set) var known: Set<DevicePlace> = []
    /// The places whose records cannot be read.
    private(set) var unreadable: Set<DevicePlace> = []
    private var byID: [[UInt8]: DevicePlace] = [:]
    /// The places of the devices that have an address: usually one. If Redis lost data, several devices can have the
    /// address until a device registers with it again.
    private var byAddress: [[UInt8]: [DevicePlace]] = [:]
    private var byUser: [[UInt8]: Set<DevicePlace>] = [:]

    /// Adds the record that was read at a place.
    ///
    /// - Parameter bytes: the record; nil if there is none.
    mutating func add(_ bytes: [UInt8]?, at place: DevicePlace, names: AttributeNames) {
        guard known.insert(place).inserted, let bytes else { return }
        guard let record = try? DeviceRecord(bytes: bytes, names: names) else {
            unreadable.insert(place)
            return
        }
        read[place] = record
        set(record, at: place)
    }

    /// Makes room for as many more devices.
    mutating func reserve(_ count: Int) {
        current.reserveCapacity(current.count + count)
        numbers.reserveCapacity(count)
        byID.reserveCapacity(byID.count + count)
        byAddress.reserveCapacity(byAddress.count + count)
    }

    /// Writes a new record, or replaces the record at the place.
    ///
    /// - Parameter numbers: the numbers of the record's attributes, in their order, if they are known.
    mutating func set(_ record: DeviceRecord, at place: DevicePlace, numbers: [Int]? = nil) {
        remove(at: place)
        current[place] = record
        self.numbers[place] = numbers
        byID[Array(record.id.utf8)] = place
        for address in record.addresses { byAddress[address.address.identity, default: []].append(place) }
        if let user = record.user { byUser[Array(user.utf8), default: []].insert(place) }
    }

    mutating func remove(at place: DevicePlace) {
        guard let record = current.removeValue(forKey: place) else { return }
        numbers[place] = nil
        let id = Array(record.id.utf8)
        if byID[id] == place { byID[id] = nil }
        for address in record.addresses { byAddress[address.address.identity]?.removeAll { $0 == place } }
        if let user = record.user { byUser[Array(user.utf8)]?.remove(place) }
    }

    /// Removes the address from each device for whose address `isOld` is true, but not from the device at `place`.
    mutating func leave(
        _ address: DeviceAddress, except place: DevicePlace? = nil,
        where isOld: (DeviceRecord.Address) -> Bool
    ) {
        let identity = address.identity
        for owner in byAddress[identity] ?? [] where owner != place {
            guard var record = current[owner],
                record.addresses.contains(where: { $0.address.identity == identity && isOld($0) })
            else { continue }
            record.leave(address: identity)
            set(record, at: owner)
        }
    }

    func place(ofDevice id: String) -> DevicePlace? { byID[Array(id.utf8)] }

    /// The known devices of a user, in the order of their places.
    func places(ofUser user: String) -> [DevicePlace] {
        (byUser[Array(user.utf8)] ?? []).sorted()
    }

    /// The records that the inputs created, changed or removed, in the order of their places.
    var changes: [RecordChange] {
        var changes: [RecordChange] = []
        for (place, record) in current {
            let old = read[place]
            if old != record {
                changes.append(
                    RecordChange(
                        place: place, read: old, left: left(at: place), final: record,
                        finalNumbers: numbers[place]))
            }
        }
        for (place, old) in read where current[place] == nil {
            changes.append(RecordChange(place: place, read: old, left: left(at: place), final: nil))
        }
        return changes.sorted { $0.place < $1.place }
    }

    /// The record as it was read, without the addresses that other devices have after the inputs.
    private func left(at place: DevicePlace) -> DeviceRecord? {
        guard var record = read[place] else { return nil }
        for address in record.addresses {
            let identity = address.address.identity
            if byAddress[identity]?.contains(where: { $0 != place }) ?? false {
                record.leave(address: identity)
            }
        }
        return record
    }
}

/// A record that changes: as it was read, after the step `leave`, and after the step `register`. Nil means that there is no record.
struct RecordChange {
    let place: DevicePlace
    let read: DeviceRecord?
    let left: DeviceRecord?
    let final: DeviceRecord?
    /// The numbers of the attributes of ``final``, in their order; nil if they are unknown.
    var finalNumbers: [Int]?
}
