import Testing

@testable import FarmStore

/// Reliability plan, layer B, in small: the books after every step, whatever goes wrong.
@Suite struct SimulationTests {
    @Test(arguments: 1...16) func `the books are exact whatever happens`(seed: UInt64) throws {
        let simulation = try Simulation(seed: seed)
        for _ in 0..<900 { try simulation.step() }
        try simulation.finish()
        #expect(simulation.jobs.count > 10)
    }
}
