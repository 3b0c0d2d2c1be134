import FarmPolicy
import RandomTesting
import Testing

struct BackOffTests {
    @Test func `the delay doubles with jitter up to its maximum and resets after success`() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            var backOff = BackOff(first: .seconds(1), longest: .seconds(60))
            for _ in 0..<2 {
                for full in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
                    let delay = backOff.failed(using: &random)
                    #expect(delay >= .seconds(full) / 2 && delay <= .seconds(full))
                }
                backOff.succeeded()
                #expect(backOff.failures == 0)
            }
        }
    }

    @Test func `hosts that failed together retry at different times`() {
        var random = SplitMix(seed: 5)
        let delays = (0..<1000).map { _ in
            var backOff = BackOff(first: .seconds(10), longest: .seconds(60))
            return backOff.failed(using: &random)
        }
        #expect(Set(delays).count > 990)
        let early = delays.count { $0 < .milliseconds(7500) }
        #expect((430...570).contains(early))
    }

    @Test func `a delay of zero stays zero`() {
        var random = SplitMix(seed: 5)
        var backOff = BackOff(first: .zero, longest: .zero)
        #expect(backOff.failed(using: &random) == .zero)
    }
}
