import APNs
import BinaryProtocol
import Foundation
import Testing

@testable import Gateway

/// With the environment variable `PUSHFARM_SEEDS=1000`, the tests run 1,000 seeds for each kind of fault.
@Suite struct BinarySimulationTests {
    private static let seeds =
        ProcessInfo.processInfo.environment["PUSHFARM_SEEDS"].flatMap { UInt64($0) } ?? 3
    private static let troubles: [BinarySimulation.Troubles] = [
        [], .badTokens, [.badTokens, .shutdowns], [.badTokens, .closes], [.badTokens, .slowness],
        [.badTokens, .pauses],
        [.badTokens, .retirement], [.badTokens, .laziness], [.badTokens, .starvation], .all,
        [.closes, .earlyCloses],
    ]

    private func simulate(
        _ seed: UInt64, _ kind: Int, command: BinaryCommand = .framed, sentinel: Bool = false,
        _ mutant: BinaryMutant? = nil
    ) throws -> Int {
        let simulation = BinarySimulation(
            seed: seed, troubles: Self.troubles[kind],
            // One seed of four requests no key updates, as with TLS 1.2.
            settings: BinarySettings(
                command: command, endsWithSentinel: sentinel, asksIfRead: seed % 4 != 1), mutant: mutant)
        try simulation.run()
        return simulation.doubled
    }

    @Test(arguments: troubles.indices, [BinaryCommand.framed, .enhanced])
    func `no push is lost and none is duplicated without a mark`(kind: Int, command: BinaryCommand) async {
        for seed in 0..<Self.seeds {
            do {
                let doubled = try simulate(seed, kind, command: command, sentinel: seed % 2 == 1)
                if !Self.troubles[kind].contains(.closes) {
                    #expect(doubled == 0, "seed \(seed), kind \(kind)")
                }
            } catch {
                Issue.record("seed \(seed), kind \(kind): \(error)")
                return
            }
            await Task.yield()
        }
    }

    /// The arguments contain no faults that close a connection without a bad push. With command 0, each close counts as a
    /// refusal, so the exchange would blame a good push.
    @Test(
        arguments: troubles.indices.filter {
            !troubles[$0].contains(.closes) && !troubles[$0].contains(.shutdowns)
        })
    func `a gateway without identifiers is handled push by push`(kind: Int) async {
        for seed in 0..<Self.seeds {
            do { _ = try simulate(seed, kind, command: .simple) } catch {
                Issue.record("seed \(seed), kind \(kind): \(error)")
                return
            }
            await Task.yield()
        }
    }

    @Test(arguments: BinaryMutant.allCases)
    func `a deliberate fault is noticed`(mutant: BinaryMutant) async {
        for seed in 0..<UInt64(40) {
            do {
                _ = try simulate(seed, Int(seed) % Self.troubles.count, sentinel: seed % 2 == 1, mutant)
            } catch { return }
            await Task.yield()
        }
        Issue.record("not noticed: \(mutant)")
    }
}
