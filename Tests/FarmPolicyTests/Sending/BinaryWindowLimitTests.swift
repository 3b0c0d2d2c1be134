import FarmPolicy
import Foundation
import Testing

@Suite struct BinaryWindowLimitTests {
    @Test func `one bad token in a hundred makes a window of a few hundred pushes`() {
        var limit = BinaryWindowLimit()
        for _ in 0..<40 { limit.refused(after: 100) }
        #expect((300...450).contains(limit.window), "\(limit.window)")
    }

    @Test func `a list of bad tokens makes the window small and never empty`() {
        var limit = BinaryWindowLimit()
        for _ in 0..<100 { limit.refused(after: 0) }
        #expect(limit.window == BinaryWindowLimit.least)
    }

    @Test func `one bad token among good ones changes little`() {
        var limit = BinaryWindowLimit()
        let before = limit.window
        limit.refused(after: 20)
        #expect(limit.window > before / 2)
    }

    @Test func `a full window without a refusal doubles the window up to a bound`() {
        var limit = BinaryWindowLimit()
        let first = limit.window
        limit.accepted(first - 1)
        #expect(limit.window == first)
        limit.accepted(1)
        #expect(limit.window == 2 * first)
        for _ in 0..<100 { limit.accepted(limit.window) }
        #expect(limit.window == BinaryWindowLimit.most)
    }

    @Test func `a gateway that reads little gets little and more when it reads that`() {
        var limit = BinaryWindowLimit()
        limit.stalled(after: 100)
        #expect(limit.window == 100)
        limit.stalled(after: 0)
        #expect(limit.window == BinaryWindowLimit.least)
        limit.accepted(BinaryWindowLimit.least)
        limit.stalled(after: 5000)
        #expect(limit.window == 2 * BinaryWindowLimit.least)
    }

    @Test func `an unexplained close halves the window down to one`() {
        var limit = BinaryWindowLimit()
        let first = limit.window
        limit.becameUnknown()
        #expect(limit.window == first / 2)
        for _ in 0..<40 { limit.becameUnknown() }
        #expect(limit.window == 1)
        limit.accepted(1)
        #expect(limit.window == 2, "and it grows again")
    }

    @Test func `the share of a connection is the run to the next refusal or its window`() {
        var limit = BinaryWindowLimit()
        #expect(!limit.isRefusing && limit.share == limit.window / 4, "nothing is known")
        for _ in 0..<60 { limit.refused(after: 100) }
        #expect(limit.isRefusing && (90...110).contains(limit.share), "\(limit.share)")
        for _ in 0..<60 { limit.refused(after: 0) }
        #expect(limit.share == BinaryWindowLimit.least && limit.window == BinaryWindowLimit.least)
        limit.accepted(limit.window - 1)
        #expect(limit.isRefusing)
        limit.accepted(1)
        #expect(!limit.isRefusing && limit.share == limit.window)
        for _ in 0..<100 { limit.accepted(limit.window) }
        limit.refused(after: 0)
        #expect(limit.isRefusing && limit.share < limit.window)
        for _ in 0..<100 { limit.accepted(limit.window) }
        #expect(!limit.isRefusing && limit.share == BinaryWindowLimit.most)
    }

    @Test
    func
        `pushes behind a bad token return, and a connection below its share has room`()
    {
        var limit = BinaryWindowLimit()
        #expect(limit.returning(of: 10_000) == 0, "no refusal was seen")
        for _ in 0..<60 { limit.refused(after: 100) }
        let share = Double(limit.share)
        for open in [100, 200, 400, 1_000] {
            // The exact number of pushes that follow a bad token, if on average one token in `share` is bad. The pushes for which
            // the connection has room below its share are subtracted.
            let expected =
                Double(open) - share * (1 - exp(-Double(open) / share)) - max(0, share - Double(open))
            #expect(abs(Double(limit.returning(of: open)) - expected) < 0.15 * Double(open), "\(open)")
        }
        #expect(limit.returning(of: 0) == -limit.share && limit.returning(of: 10) < 0)
    }

    @Test func `the end of a list with refusals is spread over the connections`() {
        var limit = BinaryWindowLimit()
        #expect(limit.part(of: 10, over: 28) == limit.share, "no refusal was seen")
        for _ in 0..<60 { limit.refused(after: 100) }
        #expect(limit.part(of: 1_000_000, over: 28) == limit.share)
        #expect(limit.part(of: 1_400, over: 28) == 50)
        #expect(
            limit.part(of: 28, over: 28) == BinaryWindowLimit.least
                && limit.part(of: 0, over: 0) == BinaryWindowLimit.least)
    }
}
