import FarmBench
import Testing

struct SpreadTests {
    @Test func `the median is the middle value`() throws {
        #expect(Spread([]) == nil)
        let odd = try #require(Spread([5, 1, 3]))
        #expect((odd.least, odd.median, odd.greatest) == (1, 3, 5))
        #expect(Spread([4, 1, 2, 10])?.median == 3)
    }

    @Test(arguments: [(0.5, 50.0), (0.99, 99.0), (1.0, 100.0), (0.0, 1.0), (0.001, 1.0)])
    func `a share of the values does not exceed its percentile`(share: Double, value: Double) {
        #expect(Spread.percentile(share, of: (1...100).map(Double.init).shuffled()) == value)
    }
}
