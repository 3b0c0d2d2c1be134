import RandomTesting
import Testing

@testable import Registry

/// Tokens that the gateway refused leave their devices, unless the device registered with the token afterwards.
@Suite struct InvalidTokenTests {
    private static let address = DeviceAddress(bytes: [1, 2, 3])
    private static let other = DeviceAddress(environment: .sandbox, bytes: [1, 2, 3])

    private var registry = FakeRegistry(RegistryKeys(app: "demo", partitions: 4))

    private mutating func apply(_ inputs: [DeviceInput], at now: Int64) throws {
        var names = Int(now)
        var random = SplitMix(seed: 1)
        var writer = try SimulatedWriter(takingOver: &registry, &names)
        try writer.plan(inputs, registry, now: now, reusableBefore: now, &names)
        #expect(writer.results.allSatisfy { $0 == .applied })
        while !writer.rest.isEmpty { _ = writer.applyOne(&registry, &random) }
        try RegistryAudit(registry).checkAgreement()
    }

    private func record(_ id: String = "d") throws -> DeviceRecord {
        try #require(try RegistryAudit(registry).records.values.first { $0.id == id })
    }

    @Test mutating func `a token leaves its device, which keeps its other address`() throws {
        try apply(
            [.set(DeviceFields(id: "d", addresses: [Self.address, Self.other], tags: ["a"]))], at: 1000)
        try apply([.invalidate(Self.address, at: 999)], at: 2000)
        #expect(try record().addresses.count == 2)
        try apply([.invalidate(Self.address, at: 1000)], at: 2000)
        #expect(try record().addresses.map(\.address) == [Self.other])
        #expect(try record().isAlive && record().tags == ["a"])
        try apply([.invalidate(Self.other, at: 5000), .invalidate(Self.other, at: 5000)], at: 2000)
        #expect(try !record().isAlive && record().registered == 1000)
        #expect(try !record().attributes(SeenBitmaps()).contains(.alive))
    }

    @Test mutating func `a later registration with the token keeps it`() throws {
        let input = DeviceInput.set(DeviceFields(id: "d", addresses: [Self.address]))
        try apply([input], at: 1000)
        // Within a minute, a registration changes nothing.
        try apply([input], at: 1059)
        #expect(try record().addresses[0].since == 1000)
        try apply([input], at: 2000)
        #expect(try record().addresses[0].since == 2000 && record().registered == 1000)
        try apply([.invalidate(Self.address, at: 1999)], at: 3000)
        #expect(try record().isAlive)
        try apply([.invalidate(Self.address, at: 2000)], at: 3000)
        #expect(try !record().isAlive)
        try apply([input], at: 4000)
        #expect(try record().isAlive && record().addresses[0].since == 4000)
    }

    @Test mutating func `a device that was seen since is not removed`() throws {
        let day = Int64(86_400)
        try apply([.set(DeviceFields(id: "d", addresses: [Self.address]))], at: 100 * day)
        try apply([.remove(id: "d", seenUntil: 99)], at: 101 * day)
        #expect(try record().lastSeenDay == 100)
        try apply([.remove(id: "d", seenUntil: 100)], at: 101 * day)
        #expect(try RegistryAudit(registry).records.isEmpty)
        try apply([.remove(id: "d", seenUntil: 100)], at: 101 * day)
    }

    @Test mutating func `only the device that has the token loses it`() throws {
        try apply(
            [
                .set(DeviceFields(id: "a", addresses: [Self.address])),
                .set(DeviceFields(id: "d", addresses: [Self.address])),
                .set(DeviceFields(id: "b", addresses: [DeviceAddress(bytes: [9])])),
            ], at: 1000)
        try apply(
            [.invalidate(Self.address, at: 1000), .invalidate(DeviceAddress(bytes: [7]), at: 9)], at: 2000)
        #expect(try !record().isAlive && record("b").isAlive)
    }
}
