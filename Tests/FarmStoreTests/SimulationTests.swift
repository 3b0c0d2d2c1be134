import Testing

@testable import FarmStore

/// Reliability plan, layers B and C, in small: the books after every step, whatever goes wrong.
@Suite struct SimulationTests {
    private func run(seed: UInt64, mutant: Mutant? = nil) throws {
        let simulation = try Simulation(seed: seed, mutant: mutant)
        for _ in 0..<1500 { try simulation.step() }
        try simulation.finish()
        // It must have been at work while things went wrong, not only afterwards.
        let calls = simulation.callsUnderFaults
        #expect(calls["Settle", default: 0] > 5 && calls["Report", default: 0] > 20)
    }

    @Test(arguments: 1...12) func `the books are exact whatever happens`(seed: UInt64) throws {
        try run(seed: seed)
    }

    @Test(arguments: Mutant.all) func `a fault in a script is noticed`(mutant: Mutant) throws {
        let isNoticed = (1...12).contains { seed in
            do {
                try run(seed: UInt64(seed), mutant: mutant)
                return false
            } catch {
                return true
            }
        }
        #expect(isNoticed, "\(mutant) went unnoticed")
    }
}
