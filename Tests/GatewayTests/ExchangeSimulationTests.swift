import Foundation
import Testing

@testable import Gateway

/// With the environment variable `PUSHFARM_SEEDS=1000`, the tests run 1,000 seeds for each kind of fault.
@Suite struct ExchangeSimulationTests {
    private static let seeds =
        ProcessInfo.processInfo.environment["PUSHFARM_SEEDS"].flatMap { UInt64($0) } ?? 12
    private static let troubles: [ExchangeSimulation.Troubles] = [
        [], .resets, .goAways, .limits, .silence, .ends, .all,
    ]

    private func simulate(
        _ seed: UInt64, _ kind: Int, _ mutant: ExchangeMutant? = nil
    ) -> (any Error)? {
        let simulation = ExchangeSimulation(seed: seed, troubles: Self.troubles[kind], mutant: mutant)
        do { try simulation.run() } catch { return error }
        return nil
    }

    @Test(arguments: troubles.indices)
    func `every push has one reported outcome that is true`(kind: Int) async {
        for seed in 0..<Self.seeds {
            if let error = simulate(seed, kind) {
                Issue.record("seed \(seed), kind \(kind): \(error)")
                return
            }
            await Task.yield()
        }
    }

    /// Seeds that found faults in the farm's code, each with a description of its fault.
    @Test(arguments: [
        ("a push that a limit of 0 held back was given up as unknown, and its connection never ended", 6, 33)
    ])
    func `seeds that found a fault stay correct`(what: String, kind: Int, seed: UInt64) {
        #expect(simulate(seed, kind) == nil, "\(what)")
        #expect(simulate(seed, kind, ExchangeMutant.heldBack) != nil, "the seed proves nothing: \(what)")
    }

    @Test(arguments: ExchangeMutant.all)
    func `a deliberate fault is noticed`(mutant: ExchangeMutant) async {
        for seed in 0..<UInt64(70) {
            if simulate(seed, Int(seed) % Self.troubles.count, mutant) != nil { return }
            await Task.yield()
        }
        Issue.record("not noticed: \(mutant)")
    }
}
