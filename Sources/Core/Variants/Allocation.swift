import Glibc
package import PushModel

/// Divides the pushes of a campaign among its variants.
/// - Source: Sutton and Barto, "Reinforcement Learning", chapter 2 (epsilon-greedy, softmax); Thompson, "On the likelihood
///   that one unknown probability exceeds another" (1933).
package enum Allocation: Hashable, Sendable {
    /// Every variant gets the same share.
    case even
    /// All variants divide a share of `epsilon` (0...1) evenly, and the variant with the best estimate also gets the remaining
    /// share.
    case epsilonGreedy(epsilon: Double)
    /// A variant's share grows with exp(estimate / temperature); the temperature is above 0.
    case softmax(temperature: Double)
    /// A variant's share is the probability that the variant is the best, given its rewards so far.
    case thompson

    /// The number of random draws from which the shares of ``thompson`` are estimated.
    private static let draws = 4_096

    /// Returns the share of each variant, in the order of `tallies`. The sum of the shares is 1. If there are no variants, the
    /// result is empty.
    package func shares(of tallies: [VariantTally], using random: inout SeededRandom) -> [Double] {
        guard !tallies.isEmpty else { return [] }
        let evenShare = 1 / Double(tallies.count)
        switch self {
        case .even:
            return tallies.map { _ in evenShare }
        case .epsilonGreedy(let epsilon):
            let best = tallies.map(\.estimate).max() ?? 0
            let winners = tallies.filter { $0.estimate == best }.count
            return tallies.map { tally in
                epsilon * evenShare + (tally.estimate == best ? (1 - epsilon) / Double(winners) : 0)
            }
        case .softmax(let temperature):
            let weights = Self.weights(of: tallies, temperature: temperature)
            let sum = weights.reduce(0, +)
            return weights.map { $0 / sum }
        case .thompson:
            var wins = [Int](repeating: 0, count: tallies.count)
            for _ in 0..<Self.draws { wins[Self.thompsonChoice(tallies, using: &random)] += 1 }
            return wins.map { Double($0) / Double(Self.draws) }
        }
    }

    /// Chooses the variant of the next push. There must be at least one variant.
    package func choice(of tallies: [VariantTally], using random: inout SeededRandom) -> Int {
        precondition(!tallies.isEmpty, "no variant to choose from")
        switch self {
        case .even:
            return random.index(below: tallies.count)
        case .epsilonGreedy(let epsilon):
            if random.happens(epsilon) { return random.index(below: tallies.count) }
            return Self.bestChoice(tallies, using: &random)
        case .softmax(let temperature):
            return Self.choice(by: Self.weights(of: tallies, temperature: temperature), using: &random)
        case .thompson:
            return Self.thompsonChoice(tallies, using: &random)
        }
    }

    /// Returns the variant with the best estimate; chooses at random if several variants share the best estimate.
    private static func bestChoice(_ tallies: [VariantTally], using random: inout SeededRandom) -> Int {
        var (best, winner, equals) = (-Double.infinity, 0, 0)
        for (index, tally) in tallies.enumerated() {
            if tally.estimate > best {
                (best, winner, equals) = (tally.estimate, index, 1)
            } else if tally.estimate == best {
                equals += 1
                if random.index(below: equals) == 0 { winner = index }
            }
        }
        return winner
    }

    /// Returns weights in 0...1. The best estimate has the weight 1, so that the weights never overflow and never all become 0,
    /// whatever the temperature is.
    private static func weights(of tallies: [VariantTally], temperature: Double) -> [Double] {
        let best = tallies.map(\.estimate).max() ?? 0
        return tallies.map { exp(($0.estimate - best) / temperature) }
    }

    private static func choice(by weights: [Double], using random: inout SeededRandom) -> Int {
        var rest = random.fraction() * weights.reduce(0, +)
        for (index, weight) in weights.enumerated() {
            rest -= weight
            if rest < 0 { return index }
        }
        return weights.lastIndex { $0 > 0 } ?? 0
    }

    /// Draws a random reward rate for each variant, and returns the variant with the highest rate. The rates have a beta
    /// distribution that depends on the variant's rewards; before the variant's first push, it is uniform.
    private static func thompsonChoice(_ tallies: [VariantTally], using random: inout SeededRandom) -> Int {
        var (best, winner) = (-1.0, 0)
        for (index, tally) in tallies.enumerated() {
            let misses = max(0, Double(tally.pulls) - tally.rewards)
            let rate = random.beta(1 + tally.rewards, 1 + misses)
            if rate > best { (best, winner) = (rate, index) }
        }
        return winner
    }
}
