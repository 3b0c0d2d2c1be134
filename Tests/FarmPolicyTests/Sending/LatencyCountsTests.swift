import Testing

@testable import FarmPolicy

struct LatencyCountsTests {
    @Test(
        arguments: [
            (0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1024, 10), (1025, 11), (2_097_152, 21),
            (2_097_153, 22),
            (UInt64.max, 22),
        ] as [(UInt64, Int)])
    func `a time counts in the first bucket that it does not exceed`(milliseconds: UInt64, bucket: Int) {
        var counts = LatencyCounts()
        counts.add(milliseconds, times: 3)
        #expect(counts.counts[bucket] == 3 && counts.total == 3)
        if let bound = LatencyCounts.bound(bucket) {
            #expect(milliseconds <= bound)
            #expect(bucket == 0 || milliseconds > LatencyCounts.bound(bucket - 1)!)
        } else {
            #expect(bucket == LatencyCounts.buckets - 1)
        }
    }

    @Test func `counts of two processes add up and can be subtracted`() {
        var (one, two) = (LatencyCounts(), LatencyCounts())
        one.add(3)
        two.add(700)
        two.add(0)
        var sum = one
        sum.add(two)
        #expect(sum.total == 3 && sum.milliseconds == 703)
        #expect(sum.since(one) == two)
    }

    @Test func `percentiles lie within their bucket`() {
        var counts = LatencyCounts()
        #expect(counts.percentile(50) == nil)
        for _ in 0..<90 { counts.add(3) }
        for _ in 0..<10 { counts.add(100) }
        #expect((2...4).contains(counts.percentile(50)!))
        #expect((64...128).contains(counts.percentile(99)!))
    }

    @Test func `buckets from another version of the program are accepted`() {
        let counts = LatencyCounts([1, 2, 3], from: 21, milliseconds: 9)
        #expect(counts.counts[21] == 1 && counts.counts[22] == 5 && counts.milliseconds == 9)
    }
}
