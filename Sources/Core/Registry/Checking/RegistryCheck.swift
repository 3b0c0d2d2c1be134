import Segments

/// Compares the records of a registry with its indexes, bitmaps and counts, without I/O.
///
/// Begin each partition with ``begin(_:_:)``, give it all its records, then all its bitmaps, and end it with
/// ``endPartition(free:)``. Afterwards give each partition the buckets of its indexes, and at last call ``finish()``. The check needs
/// about 60 bytes of memory a device, and the bitmaps of one partition.
package struct RegistryCheck {
    /// An index entry that a record needs: the hash of an id, token or user, and the place of the record.
    private struct Need: Hashable, Comparable {
        let index: UInt8
        let hash: RegistryHash
        let place: DevicePlace

        static func < (one: Self, other: Self) -> Bool {
            (one.index, one.hash, one.place) < (other.index, other.hash, other.place)
        }
    }

    /// A place in an index entry.
    private struct Pointer: Hashable {
        let field: IndexField
        let place: DevicePlace
    }

    private let count: Int
    private var caches: [PartitionCache] = []
    private var needs: [Need] = []
    /// The bits that the records of the present partition need.
    private var bits: [BitsKey: OrdinalChunk] = [:]
    private var present = (partition: 0, devices: 0, highest: -1)
    /// The places to which the index whose buckets are being read must point, and for which no entry was found yet.
    private var wanted: Set<Pointer> = []
    private var entries = 0
    package private(set) var faults = RegistryFaults()
    /// The number of records so far.
    package private(set) var devices = 0

    /// - Parameter partitions: the number of partitions of the registry.
    package init(partitions: Int) { count = partitions }

    // MARK: Records and bitmaps

    /// Begins the next partition.
    package mutating func begin(_ cache: PartitionCache) {
        present = (caches.count, 0, -1)
        caches.append(cache)
        bits = [:]
    }

    /// Adds the record at a place of the present partition.
    package mutating func add(_ bytes: [UInt8]?, at place: DevicePlace) {
        devices += 1
        present.devices += 1
        present.highest = max(present.highest, place.ordinal)
        guard let bytes, let record = try? DeviceRecord(bytes: bytes, names: caches[place.partition].names)
        else { return faults.add(.unreadable, "record \(Self.text(place)) cannot be read") }
        need(.id, RegistryHash(id: record.id), place)
        if let user = record.user { need(.user, RegistryHash(id: user), place) }
        for address in record.addresses { need(.token, RegistryHash(address.address), place) }
        if RegistryHash(id: record.id).partition(of: count) != place.partition {
            faults.add(.extraEntry, "record \(Self.text(place)) is in the wrong partition")
        }
        let (chunk, bit) = place.ordinal.quotientAndRemainder(dividingBy: OrdinalChunk.size)
        for attribute in record.attributes(caches[place.partition].seen) {
            guard let name = caches[place.partition].names.number(of: attribute) else {
                faults.add(.wrongBits, "\(attribute) of record \(Self.text(place)) has no bitmap")
                continue
            }
            bits[BitsKey(name: name, chunk: chunk), default: OrdinalChunk()][
                UInt16(truncatingIfNeeded: bit)] = true
        }
    }

    private mutating func need(_ index: RegistryIndex, _ hash: RegistryHash, _ place: DevicePlace) {
        needs.append(Need(index: index.order, hash: hash, place: place))
    }

    /// The bitmaps of the present partition that exist or should exist.
    package var bitmaps: [RegistryKey] {
        let cache = caches[present.partition]
        let chunks = (cache.next + OrdinalChunk.size - 1) / OrdinalChunk.size
        var keys = Set(bits.keys)
        for (text, name) in cache.names.all where !cache.seen.isCopy(text) {
            for chunk in 0..<chunks { keys.insert(BitsKey(name: name, chunk: chunk)) }
        }
        return keys.sorted().map(\.key)
    }

    /// Adds a bitmap of the present partition.
    ///
    /// - Parameter bytes: empty if Redis does not have the key; nil if the key is not a string.
    package mutating func add(_ bytes: [UInt8]?, of key: RegistryKey) {
        guard case .bits(let name, let chunk) = key else { return }
        let attribute = caches[present.partition].names.name(of: name)?.text ?? "\(name)"
        let text = "bitmap \(attribute), chunk \(chunk), of partition \(present.partition)"
        guard let bytes, let found = OrdinalChunk(bytes: bytes) else {
            return faults.add(.unreadable, "\(text) cannot be read")
        }
        let expected = bits[BitsKey(name: name, chunk: chunk)] ?? OrdinalChunk()
        guard found != expected else { return }
        var (missing, extra) = (expected, found)
        missing.subtract(found)
        extra.subtract(expected)
        faults.add(.wrongBits, "\(text) lacks \(missing.count) devices and has \(extra.count) too many")
    }

    /// Checks the counts of the present partition.
    ///
    /// - Parameter free: the number of free ordinals.
    package mutating func endPartition(free: Int) {
        let cache = caches[present.partition]
        let text = "partition \(present.partition)"
        if cache.devices != present.devices {
            faults.add(.wrongCount, "\(text) counts \(cache.devices) devices, and has \(present.devices)")
        }
        if present.highest >= cache.next {
            faults.add(.wrongCount, "\(text) has a record at ordinal \(present.highest), after its end")
        }
        if free + present.devices != cache.next {
            faults.add(
                .wrongCount,
                "\(text) has \(cache.next) ordinals, and \(present.devices) devices and \(free) free ordinals"
            )
        }
        bits = [:]
    }

    // MARK: Indexes

    /// The indexes of all partitions, with their numbers of buckets, in the order in which the check needs them.
    package var buckets: [(partition: Int, index: RegistryIndex, count: Int)] {
        caches.indices.flatMap { partition in
            RegistryIndex.allCases.map { (partition, $0, caches[partition].buckets(of: $0)) }
        }
    }

    /// Begins an index. All records must have been added.
    package mutating func begin(_ index: RegistryIndex, of partition: Int) {
        entries = 0
        wanted = []
        for need in needs where need.index == index.order && need.hash.partition(of: count) == partition {
            wanted.insert(Pointer(field: need.hash.field, place: need.place))
        }
    }

    /// Adds a bucket of the index.
    ///
    /// - Parameter fields: the fields of the bucket; nil if the key is not a hash.
    package mutating func add(
        _ fields: [(field: [UInt8], value: [UInt8])]?, _ index: RegistryIndex, of partition: Int, bucket: Int
    ) {
        let name = "bucket \(bucket) of the index \(index.rawValue) of partition \(partition)"
        guard let fields else { return faults.add(.unreadable, "\(name) cannot be read") }
        let buckets = caches[partition].buckets(of: index)
        for (field, value) in fields {
            entries += 1
            guard let field = IndexField(bytes: field),
                let entry = IndexEntry(bytes: value, of: index, in: partition)
            else {
                faults.add(.unreadable, "an entry in \(name) cannot be read")
                continue
            }
            if field.bucket(of: buckets) != bucket {
                faults.add(.extraEntry, "an entry in \(name) belongs to bucket \(field.bucket(of: buckets))")
                continue
            }
            for place in entry.places where wanted.remove(Pointer(field: field, place: place)) == nil {
                faults.add(
                    .extraEntry, "an entry in \(name) points to \(Self.text(place)), which does not need it")
            }
        }
    }

    /// Ends the index.
    package mutating func end(_ index: RegistryIndex, of partition: Int) {
        for pointer in wanted.sorted(by: { $0.place < $1.place }).prefix(RegistryFaults.mostKept + 1) {
            faults.add(
                .missingEntry,
                "the index \(index.rawValue) of partition \(partition) does not point to \(Self.text(pointer.place))"
            )
        }
        let counted = caches[partition].entries(of: index)
        guard counted != entries else { return }
        faults.add(
            .wrongCount,
            "the index \(index.rawValue) of partition \(partition) counts \(counted) entries, and has \(entries)"
        )
    }

    /// Finds ids and tokens that two devices have.
    package mutating func finish() {
        needs.sort()
        for (one, other) in zip(needs, needs.dropFirst())
        where one.index == other.index && one.hash == other.hash && one.index != RegistryIndex.user.order {
            let what = one.index == RegistryIndex.id.order ? "id" : "token"
            faults.add(
                .twice, "records \(Self.text(one.place)) and \(Self.text(other.place)) have the same \(what)")
        }
        needs = []
    }

    private static func text(_ place: DevicePlace) -> String {
        "\(place.ordinal) of partition \(place.partition)"
    }
}

extension RegistryIndex {
    fileprivate var order: UInt8 {
        switch self {
        case .id: 0
        case .token: 1
        case .user: 2
        }
    }
}
