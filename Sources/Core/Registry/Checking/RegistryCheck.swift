import Segments

/// Compares the records of a registry with its indexes, bitmaps and counts, without I/O.
///
/// Begin each partition with ``begin(_:)``, give it all its records, then all its bitmaps, and end it with
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
    private let extent: RegistryExtent
    private var caches: [PartitionCache] = []
    private var needs: [Need] = []
    /// The bits that the records of the present partition need.
    private var bits: [BitsKey: OrdinalChunk] = [:]
    private var present = (partition: 0, devices: 0, highest: -1)
    /// The ordinals of the present partition that have records, by chunk.
    private var used: [Int: OrdinalChunk] = [:]
    /// The places to which the index whose buckets are being read must point, and for which no entry was found yet.
    private var wanted: Set<Pointer> = []
    private var entries = 0
    package private(set) var faults = RegistryFaults()
    /// The parts of the registry that a repair can correct.
    package private(set) var damage = RegistryDamage()
    /// The number of records so far.
    package private(set) var devices = 0

    /// - Parameters:
    ///   - partitions: the number of partitions of the registry.
    ///   - extent: how far the keys of the registry reach.
    package init(partitions: Int, extent: RegistryExtent) { (count, self.extent) = (partitions, extent) }

    // MARK: Records and bitmaps

    /// Begins the next partition.
    package mutating func begin(_ cache: PartitionCache) {
        present = (caches.count, 0, -1)
        caches.append(cache)
        (bits, used) = ([:], [:])
        checkExtent(of: cache, in: present.partition)
    }

    /// Checks that the counts of a partition reach as far as its keys.
    private mutating func checkExtent(of cache: PartitionCache, in partition: Int) {
        let extent = self.extent[partition]
        var isShort = extent.blocks > cache.blocks
        if isShort {
            faults.add(
                .wrongCount,
                "partition \(partition) has records after its end, which is ordinal \(cache.next)")
        }
        for index in RegistryIndex.allCases where extent.buckets[index, default: 0] > cache.buckets(of: index)
        {
            isShort = true
            faults.add(
                .wrongCount,
                "the index \(index.rawValue) of partition \(partition) counts \(cache.buckets(of: index)) buckets, "
                    + "and has \(extent.buckets[index, default: 0])")
        }
        if isShort { damage.add(extent, of: partition) }
    }

    /// The number of hashes of records of the present partition.
    package var blocks: Int { max(caches[present.partition].blocks, extent[present.partition].blocks) }

    /// Adds the record at a place of the present partition.
    package mutating func add(_ bytes: [UInt8]?, at place: DevicePlace) {
        devices += 1
        present.devices += 1
        present.highest = max(present.highest, place.ordinal)
        let (chunk, bit) = place.ordinal.quotientAndRemainder(dividingBy: OrdinalChunk.size)
        used[chunk, default: OrdinalChunk()][UInt16(truncatingIfNeeded: bit)] = true
        guard let bytes, let record = try? DeviceRecord(bytes: bytes, names: caches[place.partition].names)
        else { return faults.add(.unreadable, "record \(Self.text(place)) cannot be read") }
        need(.id, RegistryHash(id: record.id), place)
        if let user = record.user { need(.user, RegistryHash(id: user), place) }
        for address in record.addresses { need(.token, RegistryHash(address.address), place) }
        if RegistryHash(id: record.id).partition(of: count) != place.partition {
            faults.add(.extraEntry, "record \(Self.text(place)) is in the wrong partition")
        }
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
            damage.add(unreadable: name, chunk: chunk, of: present.partition)
            return faults.add(.unreadable, "\(text) cannot be read")
        }
        let expected = bits[BitsKey(name: name, chunk: chunk)] ?? OrdinalChunk()
        guard found != expected else { return }
        var (missing, extra) = (expected, found)
        missing.subtract(found)
        extra.subtract(expected)
        damage.add(
            bitmap: name, chunk: chunk, of: present.partition, ordinals: missing.ordinals + extra.ordinals)
        faults.add(.wrongBits, "\(text) lacks \(missing.count) devices and has \(extra.count) too many")
    }

    /// Checks the counts and the free ordinals of the present partition.
    ///
    /// - Parameter free: the members of the sorted set `free`; nil if the key is not a sorted set.
    package mutating func endPartition(free: [String]?) {
        let (cache, partition) = (caches[present.partition], present.partition)
        if cache.devices != present.devices {
            damage.add(countsOf: partition)
            faults.add(
                .wrongCount,
                "partition \(partition) counts \(cache.devices) devices, and has \(present.devices)")
        }
        if present.highest >= cache.next {
            damage.add(countsOf: partition)
            faults.add(
                .wrongCount,
                "partition \(partition) has a record at ordinal \(present.highest), after its end")
        }
        checkFree(free, cache.next)
        (bits, used) = ([:], [:])
    }

    private mutating func checkFree(_ members: [String]?, _ next: Int) {
        let partition = present.partition
        guard let members else {
            faults.add(.unreadable, "the free ordinals of partition \(partition) cannot be read")
            return damage.add(countsOf: partition)
        }
        var free: [Int: OrdinalChunk] = [:]
        var strange = 0
        for member in members {
            guard let ordinal = Int(foreign: member), (0..<next).contains(ordinal) else {
                strange += 1
                continue
            }
            let (chunk, bit) = ordinal.quotientAndRemainder(dividingBy: OrdinalChunk.size)
            free[chunk, default: OrdinalChunk()][UInt16(truncatingIfNeeded: bit)] = true
        }
        var wrong: [Int] = []
        for chunk in 0..<(next + OrdinalChunk.size - 1) / OrdinalChunk.size {
            // An ordinal must be either free or used.
            var right = free[chunk] ?? OrdinalChunk()
            right.formSymmetricDifference(used[chunk] ?? OrdinalChunk())
            var all = OrdinalChunk.full
            all.removeAll(from: min(OrdinalChunk.size, next - chunk * OrdinalChunk.size))
            all.subtract(right)
            wrong += all.ordinals.map { chunk * OrdinalChunk.size + Int($0) }
        }
        damage.add(ordinals: wrong, of: partition)
        if strange > 0 {
            damage.add(countsOf: partition)
            faults.add(.wrongCount, "partition \(partition) has \(strange) free ordinals after its end")
        }
        guard !wrong.isEmpty else { return }
        faults.add(
            .wrongCount,
            "partition \(partition) has \(next) ordinals, and \(present.devices) devices and \(members.count) free "
                + "ordinals; \(wrong.count) ordinals are wrong")
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
        guard let fields else {
            damage.add(bucket: bucket, index, of: partition)
            return faults.add(.unreadable, "\(name) cannot be read")
        }
        let buckets = caches[partition].buckets(of: index)
        for (field, value) in fields {
            entries += 1
            guard let field = IndexField(bytes: field),
                let entry = IndexEntry(bytes: value, of: index, in: partition)
            else {
                damage.add(bucket: bucket, index, of: partition)
                faults.add(.unreadable, "an entry in \(name) cannot be read")
                continue
            }
            if field.bucket(of: buckets) != bucket {
                damage.add(bucket: bucket, index, of: partition)
                faults.add(.extraEntry, "an entry in \(name) belongs to bucket \(field.bucket(of: buckets))")
                continue
            }
            for place in entry.places where wanted.remove(Pointer(field: field, place: place)) == nil {
                damage.add(bucket: bucket, index, of: partition)
                faults.add(
                    .extraEntry, "an entry in \(name) points to \(Self.text(place)), which does not need it")
            }
        }
    }

    /// Ends the index.
    package mutating func end(_ index: RegistryIndex, of partition: Int) {
        let buckets = caches[partition].buckets(of: index)
        for pointer in wanted.sorted(by: { $0.place < $1.place }) {
            damage.add(bucket: pointer.field.bucket(of: buckets), index, of: partition, lacks: pointer.place)
            faults.add(
                .missingEntry,
                "the index \(index.rawValue) of partition \(partition) does not point to \(Self.text(pointer.place))"
            )
        }
        let counted = caches[partition].entries(of: index)
        guard counted != entries else { return }
        damage.add(countsOf: partition)
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
