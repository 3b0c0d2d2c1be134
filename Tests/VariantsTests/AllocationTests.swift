import PushModel
import Testing
import Variants

struct AllocationTests {
    private static let tallies = [
        VariantTally(pulls: 100, rewards: 10), VariantTally(pulls: 50, rewards: 25), VariantTally(),
    ]

    private static func shares(_ allocation: Allocation, _ tallies: [VariantTally] = tallies) -> [Double] {
        var random = SeededRandom(seed: 7)
        return allocation.shares(of: tallies, using: &random)
    }

    private static let third = 1.0 / 3
    private static let known: [(Allocation, [Double])] = [
        (.even, [third, third, third]),
        (.epsilonGreedy(epsilon: 0.3), [0.1, 0.8, 0.1]),
        (.epsilonGreedy(epsilon: 0), [0, 1, 0]),
        (.epsilonGreedy(epsilon: 1), [third, third, third]),
        // exp(0.1), exp(0.5), 1, divided by their sum.
        (.softmax(temperature: 1), [0.294_406, 0.439_203, 0.266_390]),
    ]

    @Test(arguments: known) func `shares follow the estimates`(allocation: Allocation, wanted: [Double]) {
        for (share, wanted) in zip(Self.shares(allocation), wanted) {
            #expect(abs(share - wanted) < 1e-4, "\(share), not \(wanted)")
        }
    }

    @Test func `a high temperature is uniform, and a low one follows the best estimate`() {
        for share in Self.shares(.softmax(temperature: 1e9)) { #expect(abs(share - 1 / 3.0) < 1e-6) }
        #expect(Self.shares(.softmax(temperature: 1e-300)) == [0, 1, 0])
        #expect(Self.shares(.softmax(temperature: .leastNonzeroMagnitude)) == [0, 1, 0])
    }

    @Test func `equal estimates share what the best gets`() {
        let equal = [VariantTally(pulls: 2, rewards: 1), VariantTally(pulls: 4, rewards: 2), VariantTally()]
        #expect(Self.shares(.epsilonGreedy(epsilon: 0), equal) == [0.5, 0.5, 0])
    }

    @Test func `thompson's shares are the probability of being best`() {
        // For two beta distributions with whole parameters, the sum below is exact (Evan Miller, "Formulas for Bayesian
        // A/B testing").
        let (a, b) = (VariantTally(pulls: 8, rewards: 5), VariantTally(pulls: 10, rewards: 4))
        let shares = Self.shares(.thompson, [a, b])
        let exact = Self.probabilityThatSecondIsGreater(6, 4, 5, 7)
        #expect(abs(shares[1] - exact) < 0.025, "\(shares[1]), not \(exact)")
        #expect(Self.shares(.thompson, [VariantTally(), VariantTally(pulls: 1_000, rewards: 900)])[1] > 0.85)
    }

    /// P(B > A) for A ~ beta(a, b), B ~ beta(c, d).
    private static func probabilityThatSecondIsGreater(_ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Double {
        func beta(_ x: Int, _ y: Int) -> Double { factorial(x - 1) * factorial(y - 1) / factorial(x + y - 1) }
        return (0..<c).reduce(0) { sum, i in
            sum + beta(a + i, b + d) / (Double(d + i) * beta(1 + i, d) * beta(a, b))
        }
    }

    private static func factorial(_ n: Int) -> Double { (1...max(1, n)).reduce(1) { $0 * Double($1) } }

    @Test(arguments: [
        Allocation.even, .epsilonGreedy(epsilon: 0.2), .softmax(temperature: 0.3), .thompson,
    ]) func `choices come in the shares`(allocation: Allocation) {
        var random = SeededRandom(seed: 3)
        let shares = allocation.shares(of: Self.tallies, using: &random)
        var counts = [0, 0, 0]
        for _ in 0..<20_000 { counts[allocation.choice(of: Self.tallies, using: &random)] += 1 }
        for (count, share) in zip(counts, shares) {
            #expect(abs(Double(count) / 20_000 - share) < 0.02, "\(counts) for \(shares)")
        }
    }
}
