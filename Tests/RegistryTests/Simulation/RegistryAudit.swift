import RandomTesting
import Segments

@testable import Registry

/// Checks that the indexes, bitmaps and counts of a registry agree with its records.
struct RegistryAudit {
    private let registry: FakeRegistry
    private(set) var records: [DevicePlace: DeviceRecord] = [:]

    init(_ registry: FakeRegistry) throws {
        self.registry = registry
        for partition in registry.keys.allPartitions {
            let names = registry.cache(of: partition).names
            for (key, value) in registry.partitions[partition] where key.hasPrefix("dev:") {
                guard case .hash(let fields) = value, let block = Int(key.dropFirst(4)) else { continue }
                for (field, bytes) in fields {
                    let number = Int(String(decoding: field, as: UTF8.self)) ?? -1
                    let place = DevicePlace(partition: partition, ordinal: block * 128 + number)
                    records[place] = try DeviceRecord(bytes: bytes, names: names)
                }
            }
        }
    }

    /// Checks that no two records have the same id or the same address. This must hold at every moment.
    func checkUnique() throws {
        var seen: Set<[UInt8]> = []
        for (place, record) in records {
            for address in record.addresses {
                try BrokenInvariant.unless(
                    seen.insert(address.address.identity).inserted, "\(place) has another device's address")
            }
        }
        let ids = Set(records.values.map { Array($0.id.utf8) })
        try BrokenInvariant.unless(ids.count == records.count, "an id has two records")
    }

    /// Checks that indexes, bitmaps and counts agree exactly with the records. This must hold after each completed take.
    func checkAgreement() throws {
        try checkUnique()
        for partition in registry.keys.allPartitions {
            for index in RegistryIndex.allCases { try check(index, partition) }
            try checkBits(partition)
            try checkCounts(partition)
        }
    }

    private func check(_ index: RegistryIndex, _ partition: Int) throws {
        var expected: [IndexField: IndexEntry] = [:]
        for (place, record) in records {
            for key in EntryKey.entries(of: record, registry.keys)
            where key.index == index && key.partition == partition {
                expected[key.field, default: IndexEntry()].insert(place)
            }
        }
        let cache = registry.cache(of: partition)
        var found = 0
        for (key, value) in registry.partitions[partition] where key.hasPrefix("\(index.rawValue):") {
            guard case .hash(let fields) = value else { continue }
            for (field, bytes) in fields {
                found += 1
                let name = IndexField(bytes: field)!
                let bucket = name.bucket(of: cache.buckets(of: index))
                try BrokenInvariant.unless(
                    key == "\(index.rawValue):\(bucket)", "\(key) should be in bucket \(bucket)")
                let entry = IndexEntry(bytes: bytes, of: index, in: partition)
                try BrokenInvariant.unless(
                    entry == expected[name],
                    "\(index) \(partition) \(String(describing: entry)), not \(String(describing: expected[name]))"
                )
            }
        }
        try BrokenInvariant.unless(
            found == expected.count, "\(index) \(partition): \(found) entries, not \(expected.count)")
        try BrokenInvariant.unless(
            cache.entries(of: index) == found,
            "\(index) \(partition): counted \(cache.entries(of: index)), not \(found)")
        let buckets = cache.buckets(of: index)
        try BrokenInvariant.unless(
            found <= buckets * registry.keys.bucketEntries,
            "\(index) \(partition): \(buckets) buckets for \(found)")
    }

    private func checkBits(_ partition: Int) throws {
        let cache = registry.cache(of: partition)
        let names = cache.names
        var expected: [BitsKey: OrdinalChunk] = [:]
        for (place, record) in records where place.partition == partition {
            for attribute in record.attributes(cache.seen) {
                let name = try names.number(of: attribute).orBroken("no number of \(attribute)")
                let key = BitsKey(name: name, chunk: place.ordinal / OrdinalChunk.size)
                expected[key, default: OrdinalChunk()][UInt16(place.ordinal % OrdinalChunk.size)] = true
            }
        }
        for (key, value) in registry.partitions[partition] where key.hasPrefix("bits:") {
            let parts = key.split(separator: ":").compactMap { Int($0) }
            guard case .string(let bytes) = value else { continue }
            let chunk = try OrdinalChunk(bytes: bytes).orBroken("\(key) is not a chunk")
            let name = BitsKey(name: parts[0], chunk: parts[1])
            if let text = names.name(of: parts[0]), cache.seen.isCopy(text) { continue }
            try BrokenInvariant.unless(
                chunk == expected.removeValue(forKey: name) ?? OrdinalChunk(),
                "\(key) (\(names.name(of: parts[0])!)) does not agree with the records")
        }
        try BrokenInvariant.unless(expected.isEmpty, "no bitmaps \(expected.keys)")
    }

    private func checkCounts(_ partition: Int) throws {
        let cache = registry.cache(of: partition)
        let ordinals = Set(records.keys.filter { $0.partition == partition }.map(\.ordinal))
        try BrokenInvariant.unless(
            cache.devices == ordinals.count, "counts \(cache.devices) devices, not \(ordinals.count)")
        let free = Set(registry.sorted(partition, "free").keys.compactMap { Int($0) })
        try BrokenInvariant.unless(
            free == Set(0..<cache.next).subtracting(ordinals),
            "free \(free) of \(cache.next), used \(ordinals)")
    }
}

extension Optional {
    func orBroken(_ description: @autoclosure () -> String) throws(BrokenInvariant) -> Wrapped {
        guard let self else { throw BrokenInvariant(description: description()) }
        return self
    }
}
