import FarmPolicy
import Testing

struct ThrottleMonitorTests {
    private let start = ContinuousClock.now

    @Test func `one device may be throttled any number of times`() {
        var watch = ThrottleMonitor()
        var others = 0
        for tick in 0..<100 {
            for _ in 0..<50 { watch.throttled(UInt64(tick % 2)) }
            let (troubles, more) = watch.take(at: start + .milliseconds(200 * tick))
            #expect(troubles == 0)
            others += more
        }
        #expect(others >= 4500)
    }

    @Test func `several throttled devices make every throttling trouble`() {
        var watch = ThrottleMonitor()
        watch.throttled(1)
        watch.throttled(2)
        #expect(watch.take(at: start) == (0, 0))
        for _ in 0..<5 { watch.throttled(3) }
        #expect(watch.take(at: start + .milliseconds(200)) == (7, 0))
        // Shortly after several devices were throttled, a 429 response for one device still counts as gateway trouble.
        watch.throttled(3)
        #expect(watch.take(at: start + .milliseconds(400)) == (1, 0))
        #expect(watch.take(at: start + .seconds(5)) == (0, 0))
        watch.throttled(3)
        #expect(watch.take(at: start + .seconds(6)) == (0, 0))
        #expect(watch.take(at: start + .seconds(9)) == (0, 1))
    }
}
