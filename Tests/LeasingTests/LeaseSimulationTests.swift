import Foundation
import Testing

@testable import Leasing

/// The environment variable `PUSHFARM_SEEDS` sets how many seeds each kind of fault gets.
@Suite struct LeaseSimulationTests {
    private static let seeds =
        ProcessInfo.processInfo.environment["PUSHFARM_SEEDS"].flatMap { UInt64($0) } ?? 10
    private static let changes: LeaseSimulation.Troubles = [.losses, .changes]
    private static let most: LeaseSimulation.Troubles = [.losses, .deaths, .changes]
    private static let troubles: [LeaseSimulation.Troubles] = [[], .losses, .deaths, .changes, most, .all]

    private func simulate(
        _ seed: UInt64, _ troubles: LeaseSimulation.Troubles, _ mutant: LeaseMutant? = nil
    ) -> (any Error)? {
        do { try LeaseSimulation(seed: seed, troubles: troubles, mutant: mutant).run() } catch {
            return error
        }
        return nil
    }

    @Test(arguments: troubles.indices)
    func `two hosts never send for one shard and each shard gets its proper owner`(kind: Int) async {
        for seed in 0..<Self.seeds {
            if let error = simulate(seed, Self.troubles[kind]) {
                Issue.record("seed \(seed), kind \(kind): \(error)")
                return
            }
            await Task.yield()
        }
    }

    /// Seeds that found faults in the farm's code, each with a description of its fault.
    @Test(arguments: [
        ("what Redis said was another's was served", 4, 158),
        ("shards stood still for five seconds after an orderly end", 0, 253),
    ])
    func `seeds that found a fault stay correct`(what: String, kind: Int, seed: UInt64) {
        #expect(simulate(seed, Self.troubles[kind]) == nil, "\(what)")
    }

    @Test(arguments: LeaseMutant.all)
    func `a deliberate fault is noticed`(mutant: LeaseMutant) async {
        for seed in mutant.seed..<mutant.seed + 40 {
            let troubles = seed % 2 == 0 ? Self.most : seed % 4 == 1 ? .changes : Self.changes
            if simulate(seed, troubles, mutant) != nil { return }
            await Task.yield()
        }
        Issue.record("not noticed: \(mutant)")
    }
}
