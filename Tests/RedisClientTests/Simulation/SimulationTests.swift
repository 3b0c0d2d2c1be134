import Foundation
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Layers B and C of the proof: the accounting is correct after every script, whatever fault happens (docs/internals/proof.md).
@Suite struct SimulationTests {
    /// The seeds of each profile in a run of all tests.
    private static let seeds = UInt64(1)...6

    @Test(arguments: SimulationProfile.all)
    func `the accounting is exact with every fault`(profile: SimulationProfile) throws {
        let run = try SimulationRun()
        var all: [String: Int] = [:]
        for seed in Self.seeds {
            let calls = try run.explain(seed: seed, profile)
            #expect(calls["Settle", default: 0] > 5 && calls["Report", default: 0] > 20)
            all.merge(calls, uniquingKeysWith: +)
        }
        guard profile.campaigns > 0 else { return }
        #expect(all["MarkDone", default: 0] > 20 && all["ApplyChanges", default: 0] > 50)
    }

    /// Seeds that `make simulate` found.
    private static let failed: [(UInt64, SimulationProfile)] = [
        // Redis returned to a state in which some jobs were still in the inbox.
        // The intake split these jobs again, so they were split twice.
        (10, .rollBacks), (26, .rollBacks), (4, .everything), (24, .everything),
        // After the Redis clock was set back, a lease of a stopped host stayed valid for hours.
        (66, .everything), (73, .everything),
        // A worker kept returning a batch whose report a restored Redis had forgotten.
        (36, .rollBacks),
        // A step merged content of a campaign, with bits that a restored Redis had forgotten.
        (94, .forgottenCampaigns), (113, .forgottenCampaigns),
    ]

    @Test(arguments: failed)
    func `seeds that failed before succeed now`(seed: UInt64, profile: SimulationProfile) throws {
        try SimulationRun().explain(seed: seed, profile)
    }

    @Test(arguments: Mutant.all + Mutant.steps) func `a fault in a script is noticed`(mutant: Mutant) throws {
        var variant = ScriptVariant()
        variant.mutant = mutant
        let run = try SimulationRun(variant)
        let isNoticed = mutant.shown.map { run.fails(seed: $0.number, $0.profile) } ?? false
        #expect(isNoticed || run.notices(seeds: 12), "\(mutant) went unnoticed")
    }

    private static let environment = ProcessInfo.processInfo.environment

    /// `make simulate` runs this test.
    @Test(.enabled(if: environment["PUSHFARM_SEEDS"] != nil))
    func `many seeds`() async throws {
        func number(_ name: String) -> UInt64? { Self.environment[name].flatMap { UInt64($0) } }
        let first = number("PUSHFARM_FIRST_SEED") ?? 1
        let seeds = first..<first + (number("PUSHFARM_SEEDS") ?? 1)
        let wanted = Self.environment["PUSHFARM_PROFILE"] ?? ""
        let profiles = SimulationProfile.all.filter { wanted.isEmpty || $0.name == wanted }
        let work = seeds.flatMap { seed in profiles.map { (seed, $0) } }
        let lanes = Int(number("PUSHFARM_JOBS") ?? UInt64(ProcessInfo.processInfo.activeProcessorCount))
        let isTraced = work.count == 1
        let started = ContinuousClock.now
        let (failures, requests) = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    let run = try SimulationRun()
                    var (failures, requests) = (0, 0)
                    for (seed, profile) in stride(from: lane, to: work.count, by: lanes).map({ work[$0] }) {
                        do {
                            let calls = try run.run(seed: seed, profile, isTraced: isTraced)
                            requests += calls.values.reduce(0, +)
                        } catch {
                            failures += 1
                            print("FAILED \(error)\n")
                        }
                    }
                    return (failures, requests)
                }
            }
            return try await group.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
        }
        let took = ContinuousClock.now - started
        print("\(work.count) runs, \(requests) requests in \(took): \(failures) failed")
        #expect(failures == 0)
    }
}

extension SimulationRun {
    /// Whether any profile fails with one of the first `seeds` seeds.
    func notices(seeds: UInt64) -> Bool {
        (1..<seeds + 1).contains { seed in
            SimulationProfile.all.contains { fails(seed: seed, $0) }
        }
    }

    func fails(seed: UInt64, _ profile: SimulationProfile) -> Bool {
        do {
            try run(seed: seed, profile)
            return false
        } catch {
            return true
        }
    }
}
