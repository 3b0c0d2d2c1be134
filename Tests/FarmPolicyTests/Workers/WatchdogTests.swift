import FarmPolicy
import Testing

struct WatchdogTests {
    private static let start = ContinuousClock().systemEpoch

    private func at(_ second: Int) -> ContinuousClock.Instant { Self.start.advanced(by: .seconds(second)) }

    @Test func `a child that is silent for more than ten seconds hangs`() {
        var watchdog = Watchdog(start: at(0))
        // Whoever could not end it tries again.
        #expect((1...25).filter { watchdog.check(at: at($0)) } == [11, 22])
    }

    @Test func `a sign of life begins it again`() {
        var watchdog = Watchdog(start: at(0))
        #expect((1...9).filter { watchdog.check(at: at($0)) } == [])
        watchdog.sign()
        #expect((10...20).filter { watchdog.check(at: at($0)) } == [20])
    }

    @Test(arguments: [12, 60, 86_400])
    func `what the watcher slept through itself is not held against the child`(seconds: Int) {
        var watchdog = Watchdog(start: at(0))
        let awake = 1 + seconds
        // Its signs are read now; if there are none, it hangs after all.
        #expect(([1] + (awake...awake + 9)).filter { watchdog.check(at: at($0)) } == [awake + 8])
    }

    @Test func `looks that come late still find it`() {
        var watchdog = Watchdog(start: at(0))
        #expect((1...7).map { 6 * $0 }.filter { watchdog.check(at: at($0)) } == [36])
    }
}
