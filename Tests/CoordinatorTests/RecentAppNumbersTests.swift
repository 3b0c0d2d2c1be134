import FarmPolicy
import Testing

@testable import Coordinator

struct RecentAppNumbersTests {
    private let start = ContinuousClock.now

    @Test func `latencies and delays cover the last ten seconds`() throws {
        var (pace, gateway, wait) = (RecentAppNumbers(), LatencyCounts(), LatencyCounts())
        for second in 0...12 {
            if second == 1 {
                gateway.add(1_000, times: 100)
                wait.add(2_000, times: 100)
            } else if second > 1 {
                gateway.add(4)
                wait.add(8)
            }
            pace.tick(
                settled: 0, errors: 0, gateway: gateway, wait: wait, at: start + .seconds(second))
            guard second > 0 else { continue }
            let latency = try #require(pace.latency)
            let isOld = second > 10
            #expect((latency.p99 < 100) == isOld && (latency.p50 < 100) == isOld, "second \(second)")
            #expect((try #require(pace.wait) < 100) == isOld, "second \(second)")
        }
    }

    @Test func `rates cover the time since the last reading`() {
        var pace = RecentAppNumbers()
        func tick(_ seconds: Int, settled: UInt64, errors: UInt64) {
            pace.tick(
                settled: settled, errors: errors, gateway: LatencyCounts(), wait: LatencyCounts(),
                at: start + .seconds(seconds))
        }
        tick(0, settled: 100, errors: 10)
        #expect(pace.rate == 0 && pace.errors == 0 && pace.latency == nil && pace.wait == nil)
        tick(1, settled: 350, errors: 12)
        #expect(pace.rate == 250 && pace.errors == 2)
        tick(3, settled: 350, errors: 12)
        #expect(pace.rate == 0 && pace.errors == 0)
        tick(5, settled: 650, errors: 16)
        #expect(pace.rate == 150 && pace.errors == 2)
    }
}
