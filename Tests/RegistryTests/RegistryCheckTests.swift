import Segments
import StoreProtocol
import Testing

@testable import Registry

/// The check of a registry finds damage of every kind, and nothing in a registry without damage.
struct RegistryCheckTests {
    /// The faults of a registry in memory.
    static func faults(of registry: FakeRegistry) -> [String] { check(registry).faults.texts }

    /// Checks a registry in memory.
    static func check(_ registry: FakeRegistry) -> RegistryCheck {
        var extent = RegistryExtent(registry.keys)
        for partition in registry.keys.allPartitions {
            for key in registry.partitions[partition].keys {
                extent.add(registry.keys.prefix(ofPartition: partition) + Array(key.utf8))
            }
        }
        var check = RegistryCheck(partitions: registry.keys.count, extent: extent)
        for partition in registry.keys.allPartitions {
            check.begin(registry.cache(of: partition))
            for block in 0..<check.blocks {
                for (field, bytes) in registry.records(partition, block: block) {
                    check.add(bytes, at: DevicePlace(partition: partition, ordinal: block * 128 + field))
                }
            }
            for key in check.bitmaps { check.add(registry.readableString(partition, key.suffix), of: key) }
            check.endPartition(free: registry.freeMembers(partition))
        }
        for (partition, index, count) in check.buckets {
            check.begin(index, of: partition)
            for bucket in 0..<count {
                check.add(registry.bucket(partition, index, bucket), index, of: partition, bucket: bucket)
            }
            check.end(index, of: partition)
        }
        check.finish()
        return check
    }

    static func farm() throws -> RegistryPlanTests.Farm {
        var farm = RegistryPlanTests.Farm()
        try farm.apply(
            (0..<300).map { number in
                .set(
                    DeviceFields(
                        id: "d\(number)",
                        addresses: [DeviceAddress(bytes: [UInt8(number / 250), UInt8(number % 250)])],
                        user: "u\(number % 40)", tags: ["t\(number % 3)"]))
            })
        try farm.apply((0..<20).map { .remove(id: "d\($0)") } + [.forget(user: "u30")])
        return farm
    }

    /// Changes a key of partition 0.
    static func damage(
        _ farm: inout RegistryPlanTests.Farm, _ command: PartitionChange.Command, _ key: String,
        _ words: [[UInt8]]
    ) {
        let planned = PlannedChanges(
            partition: 0, version: farm.registry.version(of: 0),
            changes: [PartitionChange(command, key, words)])
        #expect(farm.registry.apply(planned, name: "damage") == .applied)
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `a registry without damage has no faults`() throws {
        #expect(try Self.faults(of: Self.farm().registry) == [])
        #expect(Self.faults(of: RegistryPlanTests.Farm().registry) == [])
    }

    typealias Damage = (
        command: PartitionChange.Command, key: String, words: [[UInt8]], faults: [String]
    )

    /// Damage of each kind, with parts of the faults that it causes.
    static func damages(of registry: FakeRegistry) throws -> [Damage] {
        let alive = try #require(registry.cache(of: 0).names.number(of: .alive))
        let record = try #require(registry.hash(0, "dev:1")[text("5")])
        let (field, entry) = try #require(registry.hash(0, "id:0").first)
        return [
            (.setFields, "dev:1", [text("5"), [9]], ["record 133 of partition 0 cannot be read"]),
            (
                .removeFields, "dev:1", [text("5")],
                ["points to 133 of partition 0", "lacks 0 devices and has 1 too many", "counts 273 devices"]
            ),
            (
                .setFields, "dev:1", [text("6"), record],
                ["records 133 of partition 0 and 134 of partition 0 have the same id", "have the same token"]
            ),
            (.setFields, "dev:9", [text("5"), record], ["ordinal 1157, after its end"]),
            (
                .removeFields, "id:0", [field],
                ["the index id of partition 0 does not point to", "counts 273 entries, and has 272"]
            ),
            (
                .setFields, "id:0", [field, [1]],
                ["an entry in bucket 0 of the index id of partition 0 cannot"]
            ),
            (
                .setFields, "id:0", [field, entry + [0, 1, 9]],
                ["points to 265 of partition 0, which does not need it"]
            ),
            (
                .setFields, "id:1", [field, entry],
                ["an entry in bucket 1 of the index id", "belongs to bucket 0"]
            ),
            (
                .setString, "id:0", [[1]],
                ["bucket 0 of the index id of partition 0 cannot be read", "further"]
            ),
            (.delete, "token:0", [], ["the index token of partition 0 does not point to"]),
            (.delete, "user:0", [], ["the index user of partition 0 does not point to"]),
            (.setString, "bits:\(alive):0", [[1]], ["bitmap alive, chunk 0, of partition 0 cannot be read"]),
            (.delete, "bits:\(alive):0", [], ["bitmap alive, chunk 0, of partition 0 lacks 273 devices"]),
            (
                .setFields, "meta", [text("devices"), text("5")],
                ["partition 0 counts 5 devices, and has 273"]
            ),
            (
                .setFields, "meta", [text("user_entries"), text("5")],
                ["the index user of partition 0 counts 5 entries, and has 39"]
            ),
            (
                .setFields, "meta", [text("next"), text("10")],
                ["partition 0 has records after its end", "a record at ordinal 299, after its end"]
            ),
            (
                .setFields, "meta", [text("token_buckets"), text("1")],
                ["index token of partition 0 counts 1 buckets, and has 3"]
            ),
            (.addMembers, "free", [text("5"), text("133")], ["1 ordinals are wrong"]),
            (
                .addMembers, "free", [text("5"), text("x"), text("5"), text("4000")],
                ["has 2 free ordinals after its end"]
            ),
            (.setString, "free", [[1]], ["the free ordinals of partition 0 cannot be read"]),
            (
                .delete, "free", [],
                ["300 ordinals, and 273 devices and 0 free ordinals; 27 ordinals are wrong"]
            ),
        ]
    }

    @Test func `damage of each kind is found`() throws {
        let farm = try Self.farm()
        for damage in try Self.damages(of: farm.registry) {
            var damaged = farm
            Self.damage(&damaged, damage.command, damage.key, damage.words)
            let faults = Self.faults(of: damaged.registry)
            for text in damage.faults {
                #expect(
                    faults.contains { $0.contains(text) },
                    "\(damage.command) \(damage.key): \(text) is not in \(faults)")
            }
        }
    }

    @Test func `only the first faults of a kind are listed`() throws {
        var farm = try Self.farm()
        for bucket in 0..<3 { Self.damage(&farm, .delete, "token:\(bucket)", []) }
        let faults = Self.faults(of: farm.registry)
        #expect(faults.count { $0.contains("does not point to") } == RegistryFaults.mostKept)
        #expect(faults.contains { $0.contains("further missing index entries") })
    }

    @Test func `a damaged bitmap does not change, and stops no input`() throws {
        for content: [UInt8] in [[1], [0, 5, 0, 5], [UInt8](repeating: 7, count: 8000)] {
            var farm = try Self.farm()
            let tag = try #require(farm.registry.cache(of: 0).names.number(of: .tag("t1")))
            Self.damage(&farm, .setString, "bits:\(tag):0", [content])
            let results = try farm.apply([
                .remove(id: "d100"), .change(id: "d101", addTags: ["t1"], removeTags: []),
                .change(id: "d103", addTags: [], removeTags: ["t1"]),
                .set(DeviceFields(id: "new", addresses: [DeviceAddress(bytes: [9, 9])], tags: ["t1"])),
            ]).results
            #expect(results == Array(repeating: .applied, count: 4))
            #expect(farm.registry.string(0, "bits:\(tag):0") == content)
            let faults = Self.faults(of: farm.registry)
            #expect(faults.count == 1 && faults[0].hasPrefix("bitmap tag:t1, chunk 0"), "\(faults)")
        }
    }
}
