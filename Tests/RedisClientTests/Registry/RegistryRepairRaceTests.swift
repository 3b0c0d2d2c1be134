import EventLoop
import Logging
import LoopTesting
import RedisProtocol
import Registry
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// A repair and a writer that reads the registry before the other changes it, and writes afterwards.
@Suite(.timeLimit(.minutes(5))) struct RegistryRepairRaceTests {
    private static let keys = RegistryKeys(app: "demo")
    private static let device = "d"
    private static let home = keys.partition(ofDevice: device)

    private static func input(_ id: String, _ address: DeviceAddress) -> DeviceInput {
        .set(DeviceFields(id: id, addresses: [address]))
    }

    /// Addresses whose index entries are in another partition than the record of the device.
    private static let addresses = (0..<100).map { DeviceAddress(bytes: [7, 0, $0]) }
        .filter { keys.partition(ofAddress: $0) != home }

    @Test func `a writer that read an entry before the repair removed the entry plans again`() async throws {
        try await onLoop {
            let fixture = try await RegistryRepairFixture()
            let (old, new) = (Self.addresses[0], Self.addresses[1])
            let records = String(decoding: Self.keys.prefix(ofPartition: Self.home), as: UTF8.self) + "dev:0"
            // The index has an entry of the new address, and the record has the old address.
            _ = try await fixture.writer.apply([Self.input(Self.device, old)]) {}
            let record = try #require(try fixture.redis.run("HGET", records, "0").bytes)
            _ = try await fixture.writer.apply([Self.input(Self.device, new)]) {}
            var restore = RESPCommand("HSET", key: Array(records.utf8))
            restore.append("0")
            restore.append(record)
            try fixture.redis.run(restore)
            #expect(try await fixture.check().faults != [])

            let writer = try await LateWriter([Self.input(Self.device, new)], Self.keys, fixture)
            try await fixture.repair()
            #expect(try await fixture.check().faults == [])
            if try await !writer.write() {
                _ = try await fixture.writer.apply([Self.input(Self.device, new)]) {}
            }
            #expect(try await fixture.check().faults == [])
            let found = try fixture.redis.run("HGET", records, "0").bytes
            #expect(found != nil && found != record)
            fixture.connection.close()
        }
    }

    @Test func `a correction is planned again after a writer has changed the partition`() async throws {
        try await onLoop {
            let fixture = try await RegistryRepairFixture()
            let ids = (0..<200).map { "d\($0)" }.filter { Self.keys.partition(ofDevice: $0) == Self.home }
            let (first, second) = (ids[0], ids[1])
            _ = try await fixture.writer.apply([Self.input(first, Self.addresses[0])]) {}
            let meta = String(decoding: Self.keys.prefix(ofPartition: Self.home), as: UTF8.self) + "meta"
            try fixture.redis.run("HSET", meta, "devices", "99")
            let damage = try await fixture.check().damage
            let repair = RegistryRepair(try await fixture.reader())
            var plans = 0
            try await repair.correct(Self.home) { () throws(StoreError) in
                plans += 1
                let changes = try await repair.counts(of: Self.home, damage)
                if plans == 1 {
                    _ = try await fixture.writer.apply([Self.input(second, Self.addresses[1])]) {}
                }
                return changes
            } then: {
            }
            #expect(plans == 2)
            let result = try await fixture.check()
            #expect(result.faults == [] && result.devices == 2)
            fixture.connection.close()
        }
    }
}

/// A writer that has read the registry and planned its changes.
@Loop private struct LateWriter {
    private let plan: RegistryPlan
    private let reader: RegistryReader

    init(_ inputs: [DeviceInput], _ keys: RegistryKeys, _ fixture: RegistryRepairFixture) async throws {
        reader = try await fixture.reader()
        var caches: [PartitionCache] = []
        for partition in keys.allPartitions { caches.append(try await reader.cache(of: partition)) }
        var plan = RegistryPlan(
            inputs, keys: keys, partitions: caches, now: fixture.connection.clock.seconds,
            reusableBefore: .max)
        let calls = RegistryCalls(fixture.connection, log: Logger(label: "test"))
        while case let reads = try plan.nextReads(), !reads.isEmpty {
            try plan.receive(try await calls.replies(to: reads, keys))
        }
        self.plan = plan
    }

    /// - Returns: false if Redis refused a change because its partition has another version.
    func write() async throws -> Bool {
        var plan = plan
        for step in PlanStep.allCases {
            for changes in plan.changes(of: step) {
                let request = ApplyChanges(
                    version: changes.version, name: "late \(step)", changes: changes.changes)
                do throws(StoreError) {
                    _ = try await reader.store(ofPartition: changes.partition).perform(request)
                } catch {
                    guard case .stale = error else { throw error }
                    return false
                }
            }
        }
        return true
    }
}
