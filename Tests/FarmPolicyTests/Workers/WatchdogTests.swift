import FarmPolicy
import Testing

struct WatchdogTests {
    private static let start = ContinuousClock().systemEpoch

    private func at(_ second: Int) -> ContinuousClock.Instant { Self.start.advanced(by: .seconds(second)) }

    @Test func `a child that is silent for more than ten seconds hangs`() {
        var watchdog = Watchdog(start: at(0))
        // If the first attempt to end the process had no effect, the watchdog tries again after 11 seconds.
        #expect((1...25).filter { watchdog.check(at: at($0)) } == [11, 22])
    }

    @Test func `a sign of life restarts the time`() {
        var watchdog = Watchdog(start: at(0))
        #expect((1...9).filter { watchdog.check(at: at($0)) } == [])
        watchdog.sign()
        #expect((10...20).filter { watchdog.check(at: at($0)) } == [20])
    }

    @Test(arguments: [12, 60, 86_400])
    func `time in which the watchdog slept does not count against the child`(seconds: Int) {
        var watchdog = Watchdog(start: at(0))
        let awake = 1 + seconds
        // After its sleep the watchdog waits, because it may not have read the child's latest signs of life yet. If it reads
        // none, it reports that the child hangs.
        #expect(([1] + (awake...awake + 9)).filter { watchdog.check(at: at($0)) } == [awake + 8])
    }

    @Test func `late checks still find a hang`() {
        var watchdog = Watchdog(start: at(0))
        #expect((1...7).map { 6 * $0 }.filter { watchdog.check(at: at($0)) } == [36])
    }
}
