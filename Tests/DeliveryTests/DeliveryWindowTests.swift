import Testing

@testable import Delivery

/// Runs ``DeliveryWindowSimulation`` with thousands of seeds. The runs must also find deliberate faults.
@Suite struct DeliveryWindowTests {
    private static let seedsPerBlock: UInt64 = 100

    @Test(arguments: 0..<16) func `no push with a known outcome is sent again and nothing hangs`(
        block: UInt64
    ) throws {
        var sent = 0
        for seed in block * Self.seedsPerBlock..<(block + 1) * Self.seedsPerBlock {
            var simulation = DeliveryWindowSimulation(seed: seed, troubles: .all) {
                DeliveryWindow(worker: "w", now: $0)
            }
            do { try simulation.run() } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
            sent += simulation.sent
        }
        #expect(sent > 10_000)
    }

    @Test(arguments: 0..<4) func `the credit in use stays within the limit without a change of the owner`(
        block: UInt64
    ) throws {
        for seed in block * Self.seedsPerBlock..<(block + 1) * Self.seedsPerBlock {
            var simulation = DeliveryWindowSimulation(seed: seed, troubles: .losses) {
                DeliveryWindow(worker: "w", now: $0)
            }
            do { try simulation.run() } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
        }
    }

    @Test(arguments: DeliveryWindowMutant.all) func `a fault in the window is found`(
        mutant: DeliveryWindowMutant
    ) {
        var found: String?
        for seed in 0..<400 where found == nil {
            var simulation = DeliveryWindowSimulation(
                seed: UInt64(seed), troubles: seed.isMultiple(of: 4) ? .losses : .all, make: mutant.make(at:))
            do { try simulation.run() } catch { found = "seed \(seed): \(error)" }
        }
        #expect(found != nil, "not noticed: \(mutant)")
    }
}
