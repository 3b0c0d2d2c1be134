import FarmPolicy
import Testing

@Suite struct CancelRoundsTests {
    private let start = ContinuousClock.now

    @Test func `rounds start at once and get rarer while cancels are open`() {
        var rounds = CancelRounds()
        #expect(!rounds.isDue(open: 0, at: start) && rounds.isDue(open: 1, at: start))
        var now = start
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
            rounds.ended(isWhole: true, at: now)
            #expect(!rounds.isDue(open: 1, at: now + .seconds(pause) - .milliseconds(1)))
            now += .seconds(pause)
            #expect(rounds.isDue(open: 1, at: now) && !rounds.isDue(open: 0, at: now))
        }
    }

    @Test func `a new cancel is due at once and a shortened round continues soon`() {
        var rounds = CancelRounds()
        for _ in 0..<5 { rounds.ended(isWhole: true, at: start) }
        #expect(!rounds.isDue(open: 1, at: start + .seconds(10)))
        rounds.changed(at: start)
        #expect(rounds.isDue(open: 1, at: start))
        rounds.ended(isWhole: false, at: start)
        #expect(!rounds.isDue(open: 1, at: start) && rounds.isDue(open: 1, at: start + .seconds(1)))
        rounds.ended(isWhole: true, at: start)
        #expect(rounds.isDue(open: 1, at: start + .seconds(1)))
    }
}
