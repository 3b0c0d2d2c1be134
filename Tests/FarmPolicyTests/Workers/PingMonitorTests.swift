import FarmPolicy
import Testing

struct PingMonitorTests {
    private static let start = ContinuousClock().systemEpoch
    private var watch = PingMonitor(start: start)

    private func at(_ seconds: Int) -> ContinuousClock.Instant { Self.start.advanced(by: .seconds(seconds)) }

    @Test func `a ping is sent when requests are open and no bytes arrive`() {
        var watch = watch
        watch.becameBusy(at: at(100))
        #expect(watch.act(at: at(100)) == .wait(until: at(115)))
        watch.read(at: at(110))
        #expect(watch.act(at: at(124)) == .wait(until: at(125)))
        #expect(watch.act(at: at(125)) == .ping)
        #expect(watch.act(at: at(125)) == .wait(until: at(135)))
        #expect(watch.act(at: at(135)) == .dead)
        #expect(watch.act(at: at(136)) == .dead)
    }

    @Test func `any byte proves that the peer lives`() {
        var watch = watch
        watch.becameBusy(at: at(0))
        #expect(watch.act(at: at(15)) == .ping)
        watch.read(at: at(24))
        #expect(watch.act(at: at(25)) == .wait(until: at(39)))
        #expect(watch.act(at: at(39)) == .ping)
    }

    @Test func `an idle connection is pinged once an hour`() {
        var watch = watch
        #expect(watch.act(at: at(60)) == .wait(until: at(3600)))
        #expect(watch.act(at: at(3600)) == .ping)
        watch.read(at: at(3601))
        #expect(watch.act(at: at(3601)) == .wait(until: at(7201)))
        watch.becameBusy(at: at(7000))
        #expect(watch.act(at: at(7001)) == .wait(until: at(7015)))
        watch.becameIdle()
        #expect(watch.act(at: at(7015)) == .wait(until: at(7201)))
    }

    @Test func `the end of all requests does not cancel a ping`() {
        var watch = watch
        watch.becameBusy(at: at(0))
        #expect(watch.act(at: at(20)) == .ping)
        watch.becameIdle()
        #expect(watch.act(at: at(29)) == .wait(until: at(30)))
        #expect(watch.act(at: at(30)) == .dead)
    }
}
