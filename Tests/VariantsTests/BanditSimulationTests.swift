import PushModel
import Testing
import Variants

struct BanditSimulationTests {
    private static let chances = [0.2, 0.7]

    /// For each push, the exact probability that the best variant is chosen: the mean over all possible earlier games,
    /// weighted by their probability.
    private static func exactChances(_ allocation: Allocation, pushes: Int) -> [Double] {
        var games: [(tallies: [VariantTally], weight: Double)] = [([.init(), .init()], 1)]
        return (0..<pushes).map { _ in
            var (best, next) = (0.0, [(tallies: [VariantTally], weight: Double)]())
            for game in games {
                var random = SeededRandom(seed: 0)
                let shares = allocation.shares(of: game.tallies, using: &random)
                best += game.weight * shares[1]
                for (variant, share) in shares.enumerated() where share > 0 {
                    for (reward, chance) in [(1.0, chances[variant]), (0, 1 - chances[variant])] {
                        var tallies = game.tallies
                        tallies[variant].add(reward: reward)
                        next.append((tallies, game.weight * share * chance))
                    }
                }
            }
            games = next
            return best
        }
    }

    @Test(arguments: [
        Allocation.even, .epsilonGreedy(epsilon: 0.1), .epsilonGreedy(epsilon: 0.5),
        .softmax(temperature: 0.2),
        .softmax(temperature: 2),
    ]) func `averages agree with all games counted out`(allocation: Allocation) {
        let exact = Self.exactChances(allocation, pushes: 6)
        let simulation = BanditSimulation(chances: Self.chances, simulations: 20_000, horizon: 6, seed: 11)
        let course = simulation.course(of: allocation)
        for (push, (found, wanted)) in zip(course.bestChosen, exact).enumerated() {
            #expect(abs(found - wanted) < 0.015, "push \(push): \(found), not \(wanted)")
            let reward = wanted * 0.7 + (1 - wanted) * 0.2
            #expect(abs(course.reward[push] - reward) < 0.015)
        }
        let sum = course.reward.reduce(0, +)
        #expect(abs((course.cumulativeReward.last ?? 0) - sum) < 1e-9)
    }

    @Test func `the same seed gives the same course, another seed another one`() {
        func course(_ seed: UInt64) -> BanditSimulation.MeanResults {
            BanditSimulation(chances: [0.2, 0.2, 0.2, 0.2, 0.3], simulations: 20, horizon: 30, seed: seed)
                .course(of: .thompson)
        }
        #expect(course(5) == course(5))
        #expect(course(5) != course(6))
    }

    @Test func `arms that differ little are told apart in time`() {
        let simulation = BanditSimulation(
            chances: [0.2, 0.2, 0.2, 0.2, 0.3], simulations: 60, horizon: 1_500, seed: 2)
        let course = simulation.course(of: .thompson)
        let (early, late) = (
            course.bestChosen[..<50].reduce(0, +) / 50, course.bestChosen[1_400...].reduce(0, +) / 100
        )
        #expect(early < 0.35 && late > 0.6, "\(early), then \(late)")
    }

    @Test(arguments: [1e-12, 1e-300, .leastNonzeroMagnitude]) func `small temperatures do not overflow`(
        temperature: Double
    ) {
        let simulation = BanditSimulation(chances: [0.1, 0.9], simulations: 200, horizon: 40, seed: 4)
        let course = simulation.course(of: .softmax(temperature: temperature))
        #expect(course.reward.allSatisfy { $0.isFinite })
        #expect((course.bestChosen.last ?? 0) > 0.8)
    }
}
