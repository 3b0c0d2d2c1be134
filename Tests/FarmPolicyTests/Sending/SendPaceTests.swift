import FarmPolicy
import Foundation
import Testing

@Suite struct SendPaceTests {
    @Test func `one bad token in a hundred makes a window of a few hundred pushes`() {
        var pace = SendPace()
        for _ in 0..<40 { pace.refused(after: 100) }
        #expect((300...450).contains(pace.window), "\(pace.window)")
    }

    @Test func `a list of bad tokens makes the window small and never empty`() {
        var pace = SendPace()
        for _ in 0..<100 { pace.refused(after: 0) }
        #expect(pace.window == SendPace.least)
    }

    @Test func `one bad token among good ones changes little`() {
        var pace = SendPace()
        let before = pace.window
        pace.refused(after: 20)
        #expect(pace.window > before / 2)
    }

    @Test func `a full window without a refusal doubles the window up to a bound`() {
        var pace = SendPace()
        let first = pace.window
        pace.accepted(first - 1)
        #expect(pace.window == first)
        pace.accepted(1)
        #expect(pace.window == 2 * first)
        for _ in 0..<100 { pace.accepted(pace.window) }
        #expect(pace.window == SendPace.most)
    }

    @Test func `a gateway that reads little gets little and more when it reads that`() {
        var pace = SendPace()
        pace.stalled(after: 100)
        #expect(pace.window == 100)
        pace.stalled(after: 0)
        #expect(pace.window == SendPace.least)
        pace.accepted(SendPace.least)
        pace.stalled(after: 5000)
        #expect(pace.window == 2 * SendPace.least)
    }

    @Test func `an unexplained close halves the window down to one`() {
        var pace = SendPace()
        let first = pace.window
        pace.becameUnknown()
        #expect(pace.window == first / 2)
        for _ in 0..<40 { pace.becameUnknown() }
        #expect(pace.window == 1)
        pace.accepted(1)
        #expect(pace.window == 2, "and it grows again")
    }

    @Test func `the share of a connection is the run to the next refusal or its window`() {
        var pace = SendPace()
        #expect(!pace.isRefusing && pace.share == pace.window / 4, "nothing is known")
        for _ in 0..<60 { pace.refused(after: 100) }
        #expect(pace.isRefusing && (90...110).contains(pace.share), "\(pace.share)")
        for _ in 0..<60 { pace.refused(after: 0) }
        #expect(pace.share == SendPace.least && pace.window == SendPace.least)
        pace.accepted(pace.window - 1)
        #expect(pace.isRefusing)
        pace.accepted(1)
        #expect(!pace.isRefusing && pace.share == pace.window)
        for _ in 0..<100 { pace.accepted(pace.window) }
        pace.refused(after: 0)
        #expect(pace.isRefusing && pace.share < pace.window)
        for _ in 0..<100 { pace.accepted(pace.window) }
        #expect(!pace.isRefusing && pace.share == SendPace.most)
    }

    @Test
    func
        `pushes behind a bad token return, and a connection below its share has room`()
    {
        var pace = SendPace()
        #expect(pace.returning(of: 10_000) == 0, "no refusal was seen")
        for _ in 0..<60 { pace.refused(after: 100) }
        let share = Double(pace.share)
        for open in [100, 200, 400, 1_000] {
            // The exact number of pushes that follow a bad token, if on average one token in `share` is bad. The pushes for which
            // the connection has room below its share are subtracted.
            let expected =
                Double(open) - share * (1 - exp(-Double(open) / share)) - max(0, share - Double(open))
            #expect(abs(Double(pace.returning(of: open)) - expected) < 0.15 * Double(open), "\(open)")
        }
        #expect(pace.returning(of: 0) == -pace.share && pace.returning(of: 10) < 0)
    }

    @Test func `the end of a list with refusals is spread over the connections`() {
        var pace = SendPace()
        #expect(pace.part(of: 10, over: 28) == pace.share, "no refusal was seen")
        for _ in 0..<60 { pace.refused(after: 100) }
        #expect(pace.part(of: 1_000_000, over: 28) == pace.share)
        #expect(pace.part(of: 1_400, over: 28) == 50)
        #expect(pace.part(of: 28, over: 28) == SendPace.least && pace.part(of: 0, over: 0) == SendPace.least)
    }
}
