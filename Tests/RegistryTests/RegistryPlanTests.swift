import Segments
import StoreProtocol
import Testing

@testable import Registry

/// Plans over a fake Redis, without crashes.
struct RegistryPlanTests {
    /// A registry in memory with a writer.
    struct Farm {
        var registry: FakeRegistry
        var now: Int64 = 1_790_000_000
        private var calls = 0

        init(partitions: Int = 1) {
            registry = FakeRegistry(RegistryKeys(app: "demo", partitions: partitions))
        }

        /// - Returns: the results, and the number of rounds of reads.
        @discardableResult
        mutating func apply(
            _ inputs: [DeviceInput], reusableBefore: Int64 = .max
        ) throws -> (results: [DeviceResult], rounds: Int) {
            let fake = registry
            var plan = RegistryPlan(
                inputs, keys: registry.keys,
                partitions: registry.keys.allPartitions.map { fake.cache(of: $0) },
                now: now, reusableBefore: reusableBefore)
            var rounds = 0
            while case let reads = try plan.nextReads(), !reads.isEmpty {
                rounds += 1
                try plan.receive(reads.map { registry.reply(to: $0) })
            }
            for step in PlanStep.allCases {
                for changes in plan.changes(of: step) {
                    calls += 1
                    #expect(registry.apply(changes, name: "\(calls)") == .applied)
                }
            }
            let after = registry
            #expect(plan.after == registry.keys.allPartitions.map { after.cache(of: $0) })
            return (plan.results, rounds)
        }

        func audit() throws -> RegistryAudit {
            let audit = try RegistryAudit(registry)
            try audit.checkAgreement()
            return audit
        }
    }

    private static func device(
        _ id: String, _ token: UInt8? = nil, user: String? = nil, tags: [String] = []
    ) -> DeviceInput {
        .set(
            DeviceFields(
                id: id, addresses: token.map { [DeviceAddress(bytes: [$0])] } ?? [], user: user, tags: tags))
    }

    @Test func `new devices need two rounds of reads, and a repeated input changes nothing`() throws {
        var farm = Farm(partitions: 4)
        let inputs = (0..<20).map { Self.device("d\($0)", UInt8($0), user: "u\($0 % 3)", tags: ["a"]) }
        #expect(try farm.apply(inputs).rounds == 2)
        #expect(try farm.audit().records.count == 20)
        let before = farm.registry.partitions
        #expect(try farm.apply(inputs).results == inputs.map { _ in .applied })
        #expect(farm.registry.partitions == before)
    }

    @Test func `an address leaves its former device in an earlier step than it arrives`() throws {
        var farm = Farm()
        try farm.apply([Self.device("a", 1)])
        var plan = RegistryPlan(
            [Self.device("b", 1)], keys: farm.registry.keys, partitions: [farm.registry.cache(of: 0)], now: 5,
            reusableBefore: 0)
        while case let reads = try plan.nextReads(), !reads.isEmpty {
            try plan.receive(reads.map { farm.registry.reply(to: $0) })
        }
        let steps = PlanStep.allCases.map { plan.changes(of: $0).flatMap(\.changes).map(\.key) }
        #expect(steps[0].contains("dev:0") && steps[1].contains("dev:0"))
        #expect(steps[2].contains("token:0") && !steps[0].contains("token:0"))
        #expect(PlanStep.allCases.flatMap { plan.changes(of: $0).map(\.version) } == [2, 3, 4])
    }

    @Test func `a partition with too many names refuses an input and names the attribute`() throws {
        var farm = Farm()
        let tags = (0..<AttributeNames.limit - 3).map { "t\($0)" }
        for start in stride(from: 0, to: tags.count, by: 200) {
            try farm.apply([Self.device("d", tags: Array(tags[start..<min(start + 200, tags.count)]))])
        }
        // The device has no address, so the names `alive`, `service:apns` and `environment:production` are still new.
        let results = try farm.apply([
            Self.device("d", tags: ["t1"]), Self.device("e", 7, tags: ["new"]), Self.device("f", 8),
            .change(id: "d", addTags: ["new"], removeTags: []),
        ]).results
        #expect(results[0] == .applied && results[2] == .applied)
        guard case .refused(.tooManyNames) = results[1] else {
            Issue.record("not refused: \(results[1])")
            return
        }
        #expect(results[3] == .refused(.tooManyNames(.tag("new"))))
        #expect(results[3] == .refused(.tooManyNames(.tag("new"))))
        #expect(try farm.audit().records.values.map(\.id).sorted() == ["d", "f"])
    }

    @Test func `a user has a limited number of devices`() throws {
        var farm = Farm()
        let most = DeviceLimits.devicesOfUser
        try farm.apply((0..<most - 1).map { Self.device("d\($0)", user: "u") })
        let results = try farm.apply([
            Self.device("d1", user: "u", tags: ["x"]), Self.device("last", user: "u"),
            Self.device("more", user: "u"),
            Self.device("d2", user: "u"),
        ]).results
        #expect(
            results == [.applied, .applied, .refused(.tooManyDevices(user: "u")), .applied])
        try farm.apply([.forget(user: "u")])
        #expect(try farm.audit().records.isEmpty)
    }

    @Test(arguments: [
        (DeviceFields(id: "", addresses: []), "id"),
        (DeviceFields(id: "d", addresses: [], user: ""), "user"),
        (DeviceFields(id: "d", addresses: [], tags: [""]), "tags"),
        (DeviceFields(id: "d", addresses: [], tags: (0...255).map { "\($0)" }), "tags"),
        (DeviceFields(id: "d", addresses: [], zone: String(repeating: "z", count: 101)), "zone"),
        (DeviceFields(id: "d", addresses: [DeviceAddress(bytes: [])]), "token"),
        (DeviceFields(id: "d", addresses: (0...8).map { DeviceAddress(bytes: [$0]) }), "addresses"),
    ]) func `fields beyond the limits are refused`(fields: DeviceFields, field: String) throws {
        var farm = Farm()
        #expect(try farm.apply([.set(fields)]).results == [.refused(.limit(field: field))])
        #expect(farm.registry.partitions == [[:]])
    }

    @Test func `a device cannot get too many tags by changes`() throws {
        var farm = Farm()
        try farm.apply([Self.device("d", tags: (0..<200).map { "a\($0)" })])
        let change = DeviceInput.change(id: "d", addTags: (0..<56).map { "b\($0)" }, removeTags: [])
        #expect(try farm.apply([change]).results == [.refused(.tooManyTags)])
        #expect(
            try farm.apply([.change(id: "x", addTags: [], removeTags: [])]).results == [
                .refused(.unknownDevice(id: "x"))
            ])
    }

    @Test func `inputs that lead to an unreadable record are refused, and others are applied`() throws {
        var farm = Farm()
        try farm.apply([Self.device("a", 1, user: "u"), Self.device("b", 2)])
        let damage = PartitionChange(.setFields, "dev:0", [Array("0".utf8), [99]])
        let version = farm.registry.version(of: 0)
        _ = farm.registry.apply(
            PlannedChanges(partition: 0, version: version, changes: [damage]), name: "damage")
        let place = DevicePlace(partition: 0, ordinal: 0)
        let refused = DeviceResult.refused(.unreadableRecord(place))
        let results = try farm.apply([
            Self.device("a", 3), Self.device("c", 1), .remove(id: "a"), .forget(user: "u"),
            .change(id: "a", addTags: ["x"], removeTags: []), Self.device("b", 4),
        ]).results
        #expect(results == [refused, refused, refused, refused, refused, .applied])
    }

    @Test func `ordinals are reused only if they were freed before a time`() throws {
        var farm = Farm()
        try farm.apply((0..<4).map { Self.device("d\($0)") })
        try farm.apply([.remove(id: "d1")])
        farm.now += 100
        try farm.apply([.remove(id: "d2")])
        try farm.apply([Self.device("x"), Self.device("y")], reusableBefore: farm.now)
        let places = try farm.audit().records.mapValues(\.id)
        #expect(places[DevicePlace(partition: 0, ordinal: 1)] == "x")
        #expect(places[DevicePlace(partition: 0, ordinal: 4)] == "y")
        #expect(farm.registry.sorted(0, "free").keys.sorted() == ["2"])
    }

    @Test func `a device that one take registers and removes leaves a free ordinal`() throws {
        var farm = Farm()
        try farm.apply([Self.device("a", 1), .remove(id: "a"), Self.device("a", 1), Self.device("b", 1)])
        let audit = try farm.audit()
        #expect(
            audit.records.mapValues(\.id) == [
                DevicePlace(partition: 0, ordinal: 1): "a", DevicePlace(partition: 0, ordinal: 2): "b",
            ])
        #expect(audit.records[DevicePlace(partition: 0, ordinal: 1)]?.isAlive == false)
    }

    @Test func `ids that differ only in Unicode's normal forms are different devices`() throws {
        var farm = Farm(partitions: 4)
        try farm.apply([
            Self.device("\u{E9}", 1, user: "\u{E9}"), Self.device("e\u{301}", 2, user: "e\u{301}"),
        ])
        #expect(try farm.audit().records.count == 2)
        try farm.apply([Self.device("\u{E9}", 1, user: "e\u{301}")])
        try farm.apply([.forget(user: "e\u{301}")])
        #expect(try farm.audit().records.isEmpty)
    }

    @Test func `chunks become dense and stay dense, also in the next chunk of ordinals`() throws {
        var farm = Farm()
        // Ordinals start shortly before the end of the first chunk.
        let first = OrdinalChunk.size - 1500
        let start = PartitionChange(.setFields, "meta", [Array("next".utf8), Array("\(first)".utf8)])
        _ = farm.registry.apply(PlannedChanges(partition: 0, version: 0, changes: [start]), name: "start")
        for part in 0..<10 {
            try farm.apply(
                (0..<500).map { Self.device("d\(part * 500 + $0)", tags: [part < 9 ? "a" : "b"]) },
                reusableBefore: 0)
        }
        let name = try #require(farm.registry.cache(of: 0).names.number(of: .tag("a")))
        #expect(farm.registry.string(0, "bits:\(name):0").count == 3000)
        #expect(farm.registry.string(0, "bits:\(name):1").count == 8192)
        let changes = (0..<3000).map { DeviceInput.change(id: "d\($0)", addTags: ["c"], removeTags: ["a"]) }
        for portion in DeviceInput.portions(of: changes) { try farm.apply(Array(changes[portion])) }
        #expect(farm.registry.string(0, "bits:\(name):0") == [])
        let chunk = try #require(OrdinalChunk(bytes: farm.registry.string(0, "bits:\(name):1")))
        #expect(chunk.count == 1500 && farm.registry.string(0, "bits:\(name):1").count == 8192)
    }

    @Test func `inputs are divided by their weight`() {
        let small = (0..<2500).map { DeviceInput.remove(id: "\($0)") }
        #expect(DeviceInput.portions(of: small) == [0..<1200, 1200..<2400, 2400..<2500])
        let large = (0..<4).map { Self.device("\($0)", tags: (0..<160).map { "\($0)" }) }
        #expect(DeviceInput.portions(of: large) == [0..<4])
        #expect(DeviceInput.portions(of: (0..<7).map { .forget(user: "\($0)") }) == [0..<6, 6..<7])
        #expect(DeviceInput.portions(of: []) == [])
    }
}
