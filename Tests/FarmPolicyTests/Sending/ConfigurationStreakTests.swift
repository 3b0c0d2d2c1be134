import FarmPolicy
import Testing

struct ConfigurationStreakTests {
    @Test func `five in a row pause the app, with another answer between they do not`() {
        var streak = ConfigurationStreak()
        for _ in 0..<3 {
            for _ in 0..<4 {
                let pauses = streak.wrong()
                #expect(!pauses)
            }
            streak.other()
        }
        let pauses = (0..<6).map { _ in streak.wrong() }
        #expect(pauses == [false, false, false, false, true, true])
    }
}
