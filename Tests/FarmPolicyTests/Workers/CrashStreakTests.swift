import FarmPolicy
import Testing

struct CrashStreakTests {
    @Test func `crashes blame the job after three in a row and after six with an outside kill`() {
        var row = CrashStreak()
        #expect(row.ended(.crash) == 3 && row.ended(.regular) == nil && row.ended(.crash) == 3)
        #expect(row.ended(.kill) == 6 && row.ended(.crash) == 6)
        row.progressed()
        #expect(row.ended(.crash) == 3)
    }
}
