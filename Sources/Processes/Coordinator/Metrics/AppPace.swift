import EventLoop
import FarmPolicy

/// How an app does at the moment: what `pushfarm status` and `top` show of it.
struct AppPace {
    typealias Instant = ContinuousClock.Instant

    /// Of the last second: pushes that got an outcome, and answers that were errors.
    private(set) var rate: UInt64 = 0
    private(set) var errors: UInt64 = 0
    /// Of the last ten seconds, in milliseconds; nil when nothing was measured.
    private(set) var latency: (p50: Double, p99: Double)?
    private(set) var wait: Double?

    private var samples: [(at: Instant, gateway: LatencyCounts, wait: LatencyCounts)] = []
    private var last: (at: Instant, settled: UInt64, errors: UInt64)?
    private static let window = 10

    /// To be called once a second, with sums since a start.
    mutating func tick(
        settled: UInt64, errors: UInt64, gateway: LatencyCounts, wait: LatencyCounts, at now: Instant
    ) {
        if let last {
            let seconds = max(0.1, last.at.duration(to: now) / .seconds(1))
            rate = UInt64(clamping: (Double(settled &- last.settled) / seconds).rounded())
            self.errors = UInt64(clamping: (Double(errors &- last.errors) / seconds).rounded())
        }
        last = (now, settled, errors)
        samples.append((now, gateway, wait))
        if samples.count > Self.window + 1 { samples.removeFirst() }
        let recent = gateway.since(samples[0].gateway)
        latency = recent.percentile(50).flatMap { p50 in recent.percentile(99).map { (p50, $0) } }
        self.wait = wait.since(samples[0].wait).percentile(99)
    }
}
