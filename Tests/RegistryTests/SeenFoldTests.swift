import Segments
import StoreProtocol
import Testing

@testable import Registry

/// Days of `seen` are folded into weeks, and segments over them contain the devices that they should.
struct SeenFoldTests {
    private static let secondsOfDay: Int64 = 86_400
    /// 2026-11-23, a Monday.
    private static let monday = 20_780

    private typealias Farm = RegistryPlanTests.Farm

    /// Registers one device on each day, and folds as often as the writer would.
    private static func farm(days: Range<Int>) throws -> Farm {
        var farm = Farm()
        for day in days {
            farm.now = Int64(day) * secondsOfDay
            try farm.apply([device("d\(day)")])
            try fold(&farm)
        }
        return farm
    }

    private static func device(_ id: String, seen day: Int? = nil) -> DeviceInput {
        let bytes = Array(id.utf8)
        let times = day.map { DeviceTimes(registered: 5, seenDay: $0) }
        return .set(DeviceFields(id: id, addresses: [DeviceAddress(bytes: bytes)], times: times))
    }

    /// Carries out all acts that are due.
    ///
    /// - Returns: the number of acts.
    @discardableResult
    private static func fold(_ farm: inout Farm) throws -> Int {
        var acts = 0
        while let fold = SeenFold(partition: 0, farm.registry.cache(of: 0), now: farm.now) {
            acts += 1
            let fake = farm.registry
            let (changes, after) = try fold.changes(fold.reads.map { fake.reply(to: $0) })
            #expect(farm.registry.apply(changes, name: "fold\(farm.now).\(acts)") == .applied)
            let folded = farm.registry
            #expect(after == folded.cache(of: 0))
            #expect(acts < 200)
        }
        return acts
    }

    /// The ids of the devices for which `seen<DAYSd` is true.
    private static func seen(_ days: Int, in registry: FakeRegistry, today: Int) throws -> Set<String> {
        let cache = registry.cache(of: 0)
        let numbers = AttributeNumbers(
            Dictionary(
                cache.names.all.map { ($0.key.text, $0.value) }, uniquingKeysWith: { first, _ in first }),
            daysFrom: cache.seen.firstDay
        ).numbers(of: .seenWithin(days: days), today: today)
        var chunk = OrdinalChunk()
        for number in numbers {
            let isChunk = chunk.formUnion(bytes: registry.string(0, "bits:\(number):0"))
            #expect(isChunk)
        }
        let records = try RegistryAudit(registry).records
        return Set(
            chunk.ordinals.compactMap { records[DevicePlace(partition: 0, ordinal: Int($0))]?.id })
    }

    private static func bitmaps(_ registry: FakeRegistry) -> Int {
        let names = registry.cache(of: 0).names
        return names.all.count { name, number in
            name.isSeen && registry.partitions[0]["bits:\(number):0"] != nil
        }
    }

    @Test func `each day of the last 35 days has its own bitmap, and earlier days have weeks`() throws {
        let (start, today) = (Self.monday - 300, Self.monday + 3)
        let registry = try Self.farm(days: start..<today + 1).registry
        for days in [1, 2, 30, 34, 35] {
            let ids = try Self.seen(days, in: registry, today: today)
            #expect(ids == Set((today - days + 1...today).map { "d\($0)" }), "\(days) days")
        }
        for days in 36...310 {
            let ids = try Self.seen(days, in: registry, today: today)
            let first = max(start, today - days + 1)
            let earliest = min(first, SeenWeek(of: first).firstDay)
            #expect(ids.isSuperset(of: Set((first...today).map { "d\($0)" })), "\(days) days")
            #expect(ids.isSubset(of: Set((earliest...today).map { "d\($0)" })), "\(days) days")
        }
        #expect(RegistryCheckTests.faults(of: registry) == [])
    }

    @Test func `folded days keep their bitmaps for an hour`() throws {
        var farm = try Self.farm(days: Self.monday - 100..<Self.monday + 1)
        farm.now += 100 * Self.secondsOfDay
        try farm.apply([Self.device("late")])
        let before = Self.bitmaps(farm.registry)
        // The days of the last weeks were folded now, so these days have copies.
        #expect(try Self.fold(&farm) > 4)
        #expect(Self.bitmaps(farm.registry) >= before)
        #expect(RegistryCheckTests.faults(of: farm.registry) == [])
        farm.now += SeenBitmaps.keptSeconds - 1
        #expect(try Self.fold(&farm) == 0)
        farm.now += 1
        #expect(try Self.fold(&farm) > 0)
        #expect(Self.bitmaps(farm.registry) <= 100 / 7 + 3)
        _ = try farm.audit()
        #expect(RegistryCheckTests.faults(of: farm.registry) == [])
    }

    @Test func `a device leaves its week when it registers again, and an old import joins its week`() throws {
        var farm = try Self.farm(days: Self.monday - 200..<Self.monday + 1)
        let old = Self.monday - 150
        #expect(try Self.seen(40, in: farm.registry, today: Self.monday).contains("d\(old)") == false)
        try farm.apply([Self.device("d\(old)"), Self.device("import", seen: Self.monday - 120)])
        _ = try farm.audit()
        #expect(try Self.seen(1, in: farm.registry, today: Self.monday).contains("d\(old)"))
        #expect(try Self.seen(121, in: farm.registry, today: Self.monday).contains("import"))
        #expect(try !Self.seen(100, in: farm.registry, today: Self.monday).contains("import"))
        try farm.apply([.remove(id: "import")])
        #expect(try !Self.seen(121, in: farm.registry, today: Self.monday).contains("import"))
        _ = try farm.audit()
    }

    @Test func `a damaged bitmap of a day stops the fold, and a repair lets it continue`() throws {
        var farm = try Self.farm(days: Self.monday - 10..<Self.monday)
        farm.now += 60 * Self.secondsOfDay
        let number = try #require(farm.registry.cache(of: 0).names.number(of: .seen(day: Self.monday - 9)))
        RegistryCheckTests.damage(&farm, .setString, "bits:\(number):0", [[1]])
        let damaged = farm.registry
        let fold = try #require(SeenFold(partition: 0, damaged.cache(of: 0), now: farm.now))
        #expect(throws: SeenFold.Failure.damaged(.bits(name: number, chunk: 0))) {
            try fold.changes(fold.reads.map { damaged.reply(to: $0) })
        }
        RegistryRepairTests.repair(&farm.registry)
        #expect(try Self.fold(&farm) > 0)
        #expect(RegistryCheckTests.faults(of: farm.registry) == [])
    }
}
