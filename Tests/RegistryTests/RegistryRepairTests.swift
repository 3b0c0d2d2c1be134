import RandomTesting
import StoreProtocol
import Testing

@testable import Registry

/// A repair corrects everything that can be derived from the records, and changes nothing else.
struct RegistryRepairTests {
    /// Repairs a registry in memory until a check finds nothing that can be corrected.
    static func repair(_ registry: inout FakeRegistry) {
        for round in 0..<5 {
            let damage = RegistryCheckTests.check(registry).damage
            if damage.isEmpty { return }
            repair(damage, &registry, "\(round)")
        }
    }

    private static func repair(_ damage: RegistryDamage, _ registry: inout FakeRegistry, _ name: String) {
        var calls = 0
        func apply(_ changes: PlannedChanges?) {
            guard let changes else { return }
            calls += 1
            #expect(registry.apply(changes, name: "\(name).\(calls)") == .applied)
        }
        for partition in damage.partitions {
            let repair = CountRepair(partition: partition, registry.cache(of: partition))
            apply(repair.changes(counts(of: partition, damage, registry, repair)))
        }
        if damage.isBeyondCounts { return }
        for (partition, ordinals) in damage.ordinals {
            let used = ordinals.filter {
                registry.record(at: DevicePlace(partition: partition, ordinal: $0)) != nil
            }
            let free = Set((registry.freeMembers(partition) ?? []).compactMap { Int($0) })
            apply(
                CountRepair(partition: partition, registry.cache(of: partition)).changes(
                    used: used, free: free.intersection(ordinals), of: ordinals, now: 7))
        }
        for (place, bitmaps) in damage.bitmaps {
            var repair = BitmapRepair(registry.cache(of: place.partition), chunk: place.chunk)
            let all = BitmapRepair.blocks(ofChunk: place.chunk)
            for block in bitmaps.unreadable.isEmpty ? bitmaps.blocks.sorted() : Array(all) {
                repair.add(block: block, registry.records(place.partition, block: block))
            }
            for number in bitmaps.names.union(bitmaps.unreadable) {
                let key = RegistryKey.bits(name: number, chunk: place.chunk).suffix
                guard let change = repair.change(of: number, registry.readableString(place.partition, key))
                else { continue }
                apply(
                    PlannedChanges(
                        partition: place.partition, version: registry.version(of: place.partition),
                        changes: [change]))
            }
        }
        var names = 0
        for (place, devices) in damage.buckets {
            var repair = SimulatedRepair()
            repair.begin(place, lacking: devices)
            while !repair.isIdle { repair.step(&registry, &names) }
        }
    }

    private static func counts(
        of partition: Int, _ damage: RegistryDamage, _ registry: FakeRegistry, _ repair: CountRepair
    ) -> CountRepair.Counts {
        let cache = registry.cache(of: partition)
        var counts = CountRepair.Counts()
        for block in 0..<max(cache.blocks, damage.blocks(ofPartition: partition)) {
            let records = registry.records(partition, block: block)
            counts.devices += records.count
            if let last = records.keys.max() { counts.highest = block * RegistryKey.blockSize + last }
        }
        for index in RegistryIndex.allCases {
            let buckets = max(cache.buckets(of: index), damage.buckets(of: index, ofPartition: partition))
            counts.buckets[index] = buckets
            counts.entries[index] = (0..<buckets).reduce(0) {
                $0 + (registry.bucket(partition, index, $1)?.count ?? 0)
            }
        }
        if let free = registry.freeMembers(partition) {
            counts.strange = free.filter { !repair.isOrdinal($0) }
        } else {
            counts.isFreeUnreadable = true
        }
        return counts
    }

    /// Damage of records, which a repair cannot correct.
    private static func isOfRecords(_ damage: RegistryCheckTests.Damage) -> Bool {
        damage.key.hasPrefix("dev:")
    }

    @Test func `damage of each kind is repaired`() throws {
        let farm = try RegistryCheckTests.farm()
        for damage in try RegistryCheckTests.damages(of: farm.registry) where !Self.isOfRecords(damage) {
            var damaged = farm
            RegistryCheckTests.damage(&damaged, damage.command, damage.key, damage.words)
            Self.repair(&damaged.registry)
            #expect(
                RegistryCheckTests.faults(of: damaged.registry) == [], "\(damage.command) \(damage.key)")
            _ = try damaged.audit()
            // Devices that register after the repair find a working registry.
            try damaged.apply([.set(DeviceFields(id: "new", addresses: [DeviceAddress(bytes: [9, 9])]))])
            _ = try damaged.audit()
        }
    }

    @Test func `a registry without counts, indexes and bitmaps is derived from its records`() throws {
        var farm = try RegistryCheckTests.farm()
        let before = try farm.audit().records
        for (key, _) in farm.registry.partitions[0]
        where !key.hasPrefix("dev:") && key != "names" && key != "meta" {
            RegistryCheckTests.damage(&farm, .delete, key, [])
        }
        let meta = farm.registry.meta(0).keys.filter { $0 != "version" }
        RegistryCheckTests.damage(&farm, .removeFields, "meta", meta.map { Array($0.utf8) })
        Self.repair(&farm.registry)
        #expect(RegistryCheckTests.faults(of: farm.registry) == [])
        #expect(try RegistryAudit(farm.registry).records == before)
    }

    @Test func `a repair leaves damaged records, and corrects the rest`() throws {
        let farm = try RegistryCheckTests.farm()
        let damages = try RegistryCheckTests.damages(of: farm.registry).filter(Self.isOfRecords)
        #expect(damages.count == 4)
        for damage in damages {
            var damaged = farm
            RegistryCheckTests.damage(&damaged, damage.command, damage.key, damage.words)
            Self.repair(&damaged.registry)
            let left = RegistryCheckTests.faults(of: damaged.registry)
            #expect(
                left.allSatisfy {
                    $0.contains("cannot be read") || $0.contains("have the same") || $0.contains("133")
                        || $0.contains("has 1 too many")
                }, "\(left)")
            #expect(damaged.registry.hash(0, "dev:1").count == damaged.registry.records(0, block: 1).count)
        }
    }

    @Test func `the bits of a device whose record cannot be read stay`() throws {
        var farm = try RegistryCheckTests.farm()
        let alive = try #require(farm.registry.cache(of: 0).names.number(of: .alive))
        let before = farm.registry.string(0, "bits:\(alive):0")
        RegistryCheckTests.damage(&farm, .setFields, "dev:1", [Array("5".utf8), [9]])
        Self.repair(&farm.registry)
        #expect(farm.registry.string(0, "bits:\(alive):0") == before)
    }

    /// The writer plans a registration while the index entry exists, the repair removes the entry because no record needs it, and
    /// the writer then writes the record. Without the new version of the record's partition, the device would have no entry.
    @Test func `a registration that was planned before a repair is planned again`() throws {
        var registry = FakeRegistry(RegistryKeys(app: "demo", partitions: 2))
        var names = 0
        var writer = try SimulatedWriter(takingOver: &registry, &names)
        func register(_ bytes: [UInt8]) -> [DeviceInput] {
            [.set(DeviceFields(id: "d", addresses: [DeviceAddress(bytes: bytes)]))]
        }
        func apply() -> SimulatedWriter.Outcome {
            var random = SplitMix(seed: 1)
            while true {
                let outcome = writer.applyOne(&registry, &random)
                if outcome != .working { return outcome }
            }
        }
        let keys = registry.keys
        let token = try #require(
            (UInt8.min...UInt8.max).map { DeviceAddress(bytes: [$0]) }.first {
                keys.partition(ofAddress: $0) != keys.partition(ofDevice: "d")
            })
        try writer.plan(register([1, 2, 3]), registry, now: 5, reusableBefore: 0, &names)
        #expect(apply() == .done)
        let device = DevicePlace(partition: keys.partition(ofDevice: "d"), ordinal: 0)
        let index = keys.partition(ofAddress: token)
        let entry = IndexEntry([device]).bytes(of: .token)
        let damage = PlannedChanges(
            partition: index, version: registry.version(of: index),
            changes: [PartitionChange(.setFields, "token:0", [RegistryHash(token).field.bytes, entry])])
        #expect(registry.apply(damage, name: "damage") == .applied)

        writer = try SimulatedWriter(reading: registry)
        var repair = SimulatedRepair()
        repair.begin(RegistryDamage.BucketPlace(partition: index, index: .token, bucket: 0))
        repair.step(&registry, &names)
        repair.step(&registry, &names)
        try writer.plan(register(token.bytes), registry, now: 99, reusableBefore: 0, &names)
        while !repair.isIdle { repair.step(&registry, &names) }
        #expect(repair.corrections == 1 && apply() == .stale)
        writer = try SimulatedWriter(reading: registry)
        try writer.plan(register(token.bytes), registry, now: 99, reusableBefore: 0, &names)
        #expect(apply() == .done)
        let faults = RegistryCheckTests.faults(of: registry)
        #expect(faults.allSatisfy { $0.contains("counts") }, "\(faults)")
    }
}
