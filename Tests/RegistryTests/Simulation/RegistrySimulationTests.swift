import RandomTesting
import Testing

@testable import Registry

/// Runs the planner over a fake Redis: with crashes between any two changes, lost replies, and writers that lost their lease.
struct RegistrySimulationTests {
    struct Profile: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let partitions: Int
        var fieldBits = UInt64.max
        var bucketEntries = 3
        var ids = 14
        var takes = 40
        /// Whether a repair works on random buckets while the writer works.
        var repairs = false
    }

    static let profiles = [
        Profile(testDescription: "four partitions", partitions: 4),
        Profile(testDescription: "one partition", partitions: 1),
        Profile(testDescription: "equal fields", partitions: 2, fieldBits: 3),
        Profile(testDescription: "one bucket", partitions: 2, bucketEntries: 100),
        Profile(testDescription: "many devices", partitions: 2, bucketEntries: 2, ids: 200),
        Profile(testDescription: "with repairs", partitions: 4, takes: 80, repairs: true),
        Profile(testDescription: "few devices with repairs", partitions: 2, ids: 4, takes: 80, repairs: true),
    ]

    @Test(arguments: profiles, 1...5 as ClosedRange<UInt64>)
    func `records, indexes and bitmaps agree with the model after crashes`(profile: Profile, seed: UInt64)
        throws
    {
        var simulation = try RegistrySimulation(profile, seed: seed)
        for _ in 0..<profile.takes { try simulation.take() }
        #expect(simulation.crashes > 5 && simulation.lateCalls > 5)
        if profile.repairs { #expect(simulation.corrections > 0) }
    }
}

struct RegistrySimulation {
    private let profile: RegistrySimulationTests.Profile
    private var random: SplitMix
    private var registry: FakeRegistry
    private var model = ModelRegistry()
    private var writer: SimulatedWriter
    /// Writers that lost their lease while they carried out a plan.
    private var late: [SimulatedWriter] = []
    private var names = 0
    private var now: Int64 = 1_790_000_000
    private(set) var crashes = 0
    private(set) var lateCalls = 0
    private var repair = SimulatedRepair()
    /// The number of buckets that the repair has changed.
    var corrections: Int { repair.corrections }

    init(_ profile: RegistrySimulationTests.Profile, seed: UInt64) throws {
        self.profile = profile
        random = SplitMix(seed: seed)
        registry = FakeRegistry(
            RegistryKeys(
                app: "demo", partitions: profile.partitions, fieldBits: profile.fieldBits,
                bucketEntries: profile.bucketEntries))
        writer = try SimulatedWriter(takingOver: &registry, &names)
    }

    /// Takes some inputs and applies them; after a crash, the next writer applies them again. Then compares the registry with the
    /// model.
    mutating func take() throws {
        let inputs = (0...random.int(in: 0...9)).map { _ in input() }
        let expected = inputs.map { model.apply($0) }
        var hasCrashed = false
        while try !apply(inputs) { hasCrashed = true }
        while !repair.isIdle { repair.step(&registry, &names) }
        let audit = try RegistryAudit(registry)
        try audit.checkAgreement()
        if profile.fieldBits == .max {
            let faults = RegistryCheckTests.faults(of: registry)
            try BrokenInvariant.unless(faults.isEmpty, "the check reports \(faults)")
        }
        let found = Dictionary(
            audit.records.values.map { ($0.id, DeviceFields($0)) }, uniquingKeysWith: { first, _ in first })
        try BrokenInvariant.unless(found == model.devices, "\(inputs)\n\(found)\n\(model.devices)")
        if !hasCrashed {
            try BrokenInvariant.unless(
                writer.results.map { $0 == .applied } == expected, "results \(writer.results) of \(inputs)")
        }
    }

    /// - Returns: false if the writer ended before all changes were applied. Another writer has taken over.
    private mutating func apply(_ inputs: [DeviceInput]) throws -> Bool {
        now += Int64(random.int(in: 0...40_000)) + (random.chance(4) ? 5 * 86_400 : 0)
        if random.chance(2), try !writer.foldSeen(&registry, now: now, &names) {
            try BrokenInvariant.unless(profile.repairs, "a fold was stale")
            writer = try SimulatedWriter(reading: registry)
        }
        let reusable = random.chance(2) ? now : now - 100_000
        do {
            try writer.plan(inputs, registry, now: now, reusableBefore: reusable, &names)
        } catch RegistryPlanError.stale where profile.repairs {
            writer = try SimulatedWriter(reading: registry)
            return false
        }
        while true {
            if random.chance(10) {
                crashes += 1
                late.append(writer)
                writer = try SimulatedWriter(takingOver: &registry, &names)
                return false
            }
            try applyLate()
            if profile.repairs { stepRepair() }
            let outcome = writer.applyOne(&registry, &random)
            try RegistryAudit(registry).checkUnique()
            switch outcome {
            case .working: continue
            case .done: return true
            case .stale:
                try BrokenInvariant.unless(profile.repairs, "the only owner is stale")
                // The writer reads the registry again, and plans the inputs again.
                writer = try SimulatedWriter(reading: registry)
                return false
            }
        }
    }

    /// Lets the repair carry out its next read or call. The repair examines random buckets, whether or not they are damaged.
    private mutating func stepRepair() {
        if repair.isIdle {
            let partition = random.int(in: 0...profile.partitions - 1)
            let index = RegistryIndex.allCases[random.int(in: 0...2)]
            let buckets = registry.cache(of: partition).buckets(of: index)
            repair.begin(
                RegistryDamage.BucketPlace(
                    partition: partition, index: index, bucket: random.int(in: 0...buckets - 1)))
        }
        for _ in 0..<random.int(in: 0...3) { repair.step(&registry, &names) }
    }

    /// Lets a writer that has lost its lease continue. This writer must not change anything.
    private mutating func applyLate() throws {
        guard !late.isEmpty, random.chance(3) else { return }
        let index = random.int(in: 0...late.count - 1)
        let before = registry.partitions
        if random.chance(3) {
            // The late writer also plans new inputs. It knows only the state of the registry from before it lost its lease.
            let inputs = (0...3).map { _ in input() }
            #expect(throws: RegistryPlanError.self) {
                try late[index].plan(inputs, registry, now: now, reusableBefore: now, &names)
            }
        }
        switch late[index].applyOne(&registry, &random) {
        case .done: late.remove(at: index)
        case .working: lateCalls += 1
        case .stale:
            // A real writer ends its plan, too.
            lateCalls += 1
            late.remove(at: index)
        }
        try BrokenInvariant.unless(registry.partitions == before, "a late writer changed the registry")
        if late.count > 4 { late.removeFirst() }
    }

    private mutating func input() -> DeviceInput {
        let id = "d\(random.int(in: 0...profile.ids - 1))"
        switch random.int(in: 0...19) {
        case 0: return .forget(user: user())
        case 1...3: return .remove(id: id)
        case 7...8:
            let address = DeviceAddress(bytes: [UInt8(random.int(in: 1...profile.ids))])
            return .invalidate(address, at: random.chance(4) ? 0 : 1 << 40)
        case 4...6: return .change(id: id, addTags: tags(), removeTags: tags())
        default:
            let addresses = (0..<random.int(in: 0...2)).map { _ in
                DeviceAddress(
                    environment: random.chance(4) ? .sandbox : .production,
                    bytes: [UInt8(random.int(in: 1...profile.ids))])
            }
            return .set(
                DeviceFields(
                    id: id, addresses: addresses.count == 2 && addresses[0] == addresses[1] ? [] : addresses,
                    user: random.chance(3) ? nil : user(), tags: tags(),
                    zone: random.chance(2) ? "Asia/Tokyo" : nil, lang: random.chance(2) ? "ja" : "de",
                    platform: "ios"))
        }
    }

    private mutating func user() -> String { "u\(random.int(in: 0...4))" }

    private mutating func tags() -> [String] {
        (0..<random.int(in: 0...3)).map { _ in "t\(random.int(in: 0...6))" }
    }
}
