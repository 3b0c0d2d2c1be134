import Testing

@testable import Delivery

@Suite struct FairTurnsTests {
    private final class App {}

    @Test func `a single app gets nearly all turns and several apps share by weight`() {
        let turns = FairTurns()
        let (one, other) = (App(), App())
        turns.note(one, holdsBatches: true)
        #expect(turns.share(of: one, weight: 1) > 1000)
        #expect(turns.share(of: other, weight: 1) < 200, "the first one is at work")
        turns.note(other, holdsBatches: true)
        #expect(turns.share(of: one, weight: 3) == 3 * turns.share(of: other, weight: 1))
        turns.note(other, holdsBatches: false)
        #expect(turns.share(of: one, weight: 1) > 1000)
    }
}
