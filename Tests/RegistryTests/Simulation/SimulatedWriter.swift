import RandomTesting

@testable import Registry

/// A writer that plans and applies takes, one change at a time, so that the simulation can stop it anywhere.
struct SimulatedWriter {
    private let keys: RegistryKeys
    private var caches: [PartitionCache]
    /// The changes of the plan that are not applied yet, step by step.
    private(set) var rest: [[(changes: PlannedChanges, name: String)]] = []
    private var after: [PartitionCache] = []
    private(set) var results: [DeviceResult] = []

    enum Outcome: Equatable {
        case working, done, stale
    }

    /// Takes over the registry. After this call, no change that an earlier writer planned can be applied.
    init(takingOver registry: inout FakeRegistry, _ names: inout Int) throws {
        keys = registry.keys
        for partition in keys.allPartitions {
            names += 1
            let bump = PlannedChanges(
                partition: partition, version: registry.version(of: partition), changes: [])
            try BrokenInvariant.unless(
                registry.apply(bump, name: "w\(names)") == .applied, "a take-over was stale")
        }
        let fake = registry
        caches = keys.allPartitions.map { fake.cache(of: $0) }
    }

    /// Reads the registry again, as a writer does after a stale call.
    init(reading registry: FakeRegistry) throws {
        keys = registry.keys
        caches = registry.keys.allPartitions.map { registry.cache(of: $0) }
    }

    /// Carries out one act on the bitmaps of `seen`, if it is due.
    ///
    /// - Returns: false if the partition had another version than the writer knows.
    mutating func foldSeen(_ registry: inout FakeRegistry, now: Int64, _ names: inout Int) throws -> Bool {
        for partition in keys.allPartitions {
            guard let fold = SeenFold(partition: partition, caches[partition], now: now) else { continue }
            let fake = registry
            let (changes, after) = try fold.changes(fold.reads.map { fake.reply(to: $0) })
            names += 1
            guard registry.apply(changes, name: "w\(names)") == .applied else { return false }
            caches[partition] = after
            return true
        }
        return true
    }

    mutating func plan(
        _ inputs: [DeviceInput], _ registry: FakeRegistry, now: Int64, reusableBefore: Int64,
        _ names: inout Int
    ) throws {
        var plan = RegistryPlan(
            inputs, keys: keys, partitions: caches, now: now, reusableBefore: reusableBefore)
        var rounds = 0
        while case let reads = try plan.nextReads(), !reads.isEmpty {
            rounds += 1
            try BrokenInvariant.unless(rounds <= 5, "more than five rounds of reads")
            try plan.receive(reads.map { registry.reply(to: $0) })
        }
        results = plan.results
        rest = []
        for step in PlanStep.allCases {
            var calls: [(PlannedChanges, String)] = []
            for changes in plan.changes(of: step) {
                names += 1
                calls.append((changes, "w\(names)"))
            }
            if !calls.isEmpty { rest.append(calls) }
        }
        after = plan.after
    }

    /// Applies one of the next changes. All partitions of the current step come before the next step, in random order.
    mutating func applyOne(_ registry: inout FakeRegistry, _ random: inout SplitMix) -> Outcome {
        guard var step = rest.first else {
            caches = after
            return .done
        }
        let call = step.remove(at: random.int(in: 0...step.count - 1))
        var answer = registry.apply(call.changes, name: call.name)
        // As if the reply were lost, the writer sometimes repeats the call.
        if random.chance(4) { answer = registry.apply(call.changes, name: call.name) }
        if step.isEmpty { rest.removeFirst() } else { rest[0] = step }
        guard answer == .applied else { return .stale }
        if rest.isEmpty {
            caches = after
            return .done
        }
        return .working
    }
}
