import PushModel
import Testing
import Variants

struct ScoreIntervalTests {
    /// The examples of Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I, method 3.
    private static let published: [(Double, Int, Double, Double)] = [
        (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718),
    ]

    @Test(arguments: published) func `intervals are the published ones`(
        successes: Double, trials: Int, low: Double, high: Double
    ) {
        let interval = ScoreInterval(successes: successes, trials: trials)
        #expect(abs(interval.low - low) < 5e-5 && abs(interval.high - high) < 5e-5, "\(interval)")
        // The interval of the failures is the mirror image.
        let mirrored = ScoreInterval(successes: Double(trials) - successes, trials: trials)
        #expect(abs(mirrored.low - (1 - interval.high)) < 1e-12)
    }

    @Test func `the limits solve the equation of the score`() {
        for (successes, trials) in [(3.0, 10), (0.5, 4), (999, 1000), (1, 1_000_000)] {
            let interval = ScoreInterval(successes: successes, trials: trials)
            let p = successes / Double(trials)
            for limit in [interval.low, interval.high] where limit > 0 && limit < 1 {
                let score = (p - limit) / (limit * (1 - limit) / Double(trials)).squareRoot()
                #expect(abs(abs(score) - ScoreInterval.z95) < 1e-6, "\(limit)")
            }
        }
    }

    @Test func `without trials, nothing is known; wrong counts are limited`() {
        #expect(ScoreInterval(successes: 0, trials: 0) == ScoreInterval(successes: 1, trials: -1))
        #expect(ScoreInterval(successes: 0, trials: 0).high == 1)
        #expect(ScoreInterval(successes: 9, trials: 3) == ScoreInterval(successes: 3, trials: 3))
        #expect(ScoreInterval(successes: -9, trials: 3).low == 0)
    }

    @Test func `95 of 100 intervals contain the true probability`() {
        var random = SeededRandom(seed: 6)
        var hits = 0
        for _ in 0..<2000 {
            let successes = (0..<60).filter { _ in random.happens(0.3) }.count
            let interval = ScoreInterval(successes: Double(successes), trials: 60)
            if interval.low <= 0.3, 0.3 <= interval.high { hits += 1 }
        }
        #expect((1870...1940).contains(hits), "\(hits)")
    }
}
