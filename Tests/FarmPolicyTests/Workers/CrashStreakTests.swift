import FarmPolicy
import Testing

struct CrashStreakTests {
    @Test func `crashes accuse after three ends, a row with a kill from outside after six`() {
        var row = CrashStreak()
        #expect(row.ended(.crash) == 3 && row.ended(.orderly) == nil && row.ended(.crash) == 3)
        #expect(row.ended(.kill) == 6 && row.ended(.crash) == 6)
        row.progressed()
        #expect(row.ended(.crash) == 3)
    }
}
