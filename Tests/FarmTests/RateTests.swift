import Testing

@Suite("Rates at the gateway") struct RateTests {
    /// The times of `rate` pushes a second for ten seconds.
    private static func even(_ rate: Int) -> [Int64] { (0..<rate * 10).map { Int64($0 * 1000 / rate) } }

    @Test(arguments: [50, 300, 1000])
    func `the check accepts a kept rate and rejects a broken rate`(
        rate: Int
    ) {
        let most = Double(rate)
        #expect(Rate.fault(Self.even(rate), rate: most, burst: most / 20) == nil)
        #expect(Rate.fault(Self.even(rate * 11 / 10), rate: most, burst: most / 20) != nil)
        // The pushes of half a second all arrive at the start of this half second.
        let early = Self.even(rate).map { (3_000..<3_500).contains($0) ? 3_000 : $0 }
        #expect(Rate.fault(early, rate: most, burst: most / 20) != nil)
    }

    @Test func `after a pause a gateway may read the pushes that arrived meanwhile`() {
        let late = Self.even(300).map { (3_000..<4_500).contains($0) ? 4_500 : $0 }
        #expect(Rate.fault(late, rate: 300, burst: 15) == nil)
        // If all pushes of a second arrive at once, the rate is broken.
        #expect(Rate.fault(Self.even(300).map { $0 / 1000 * 1000 }, rate: 300, burst: 15) != nil)
        // After the gap twice as many pushes arrive as the rate allows for the gap, so the rate is broken.
        #expect(Rate.fault(late + late.filter { $0 == 4_500 }, rate: 300, burst: 15) != nil)
    }
}
