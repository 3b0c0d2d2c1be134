import ControlChannel
import EventLoop
import FarmPolicy
import PushModel
import StoreProtocol

/// Outcomes and latencies of an app's pushes that this coordinator has settled since its start.
@Loop final class AppTotals {
    struct Outcome: Hashable {
        enum Kind: String { case delivered, failed, expired, cancelled }
        var lane: Lane
        var kind: Kind
        /// The reason of a failure, from a limited set.
        var reason = ""
    }

    private(set) var outcomes: [Outcome: UInt64] = [:]
    private(set) var retries: [RetryCause: UInt64] = [:]
    private(set) var maybeDuplicated: UInt64 = 0
    /// The number of pushes sent.
    private(set) var sent: UInt64 = 0
    /// The number of gateway connections opened.
    private(set) var dials: UInt64 = 0
    private(set) var gateway = LatencyCounts()
    private(set) var settle = LatencyCounts()
    private(set) var recent = RecentAppNumbers()
    private var highWait = LatencyCounts()
    private var bulkWait = LatencyCounts()

    func count(_ kind: Outcome.Kind) -> UInt64 {
        outcomes.reduce(0) { $0 + ($1.key.kind == kind ? $1.value : 0) }
    }

    func wait(_ lane: Lane) -> LatencyCounts { lane == .high ? highWait : bulkWait }

    /// Updates the rates of the last second and the latencies of the last ten seconds. Call this function once a
    /// second.
    func tick(at now: ContinuousClock.Instant) {
        var waits = highWait
        waits.add(bulkWait)
        recent.tick(
            settled: outcomes.values.reduce(0, +), errors: responses.errors, gateway: gateway, wait: waits,
            at: now)
    }

    /// Counts the outcomes in settlements that Redis has applied.
    ///
    /// - Parameter now: the current time in Redis, in milliseconds.
    func settled(_ settlements: [Settlement], at now: Int64) {
        for settlement in settlements {
            for job in settlement.jobs { add(job, settlement.lane) }
            for (cause, count) in settlement.retried { retries[cause, default: 0] += UInt64(count) }
            settle.add(UInt64(max(0, now - settlement.entry.milliseconds)))
        }
    }

    /// Adds a worker's numbers of the last second.
    func add(_ heartbeat: WorkerNotice.Heartbeat.App) {
        sent &+= heartbeat.sent
        dials &+= UInt64(heartbeat.dials)
        gateway.add(LatencyCounts(heartbeat.gateway))
        highWait.add(LatencyCounts(heartbeat.highWait))
        bulkWait.add(LatencyCounts(heartbeat.bulkWait))
    }

    private func add(_ job: Settlement.Job, _ lane: Lane) {
        func add(_ kind: Outcome.Kind, _ count: Int, _ reason: String = "") {
            guard count > 0 else { return }
            outcomes[Outcome(lane: lane, kind: kind, reason: reason), default: 0] += UInt64(count)
        }
        add(.delivered, job.delivered)
        add(.expired, job.expired)
        add(.cancelled, job.cancelled)
        for (reason, count) in job.reasons { add(.failed, count, MetricReasons.name(reason)) }
        maybeDuplicated += UInt64(job.maybeDuplicated)
    }
}

extension LatencyCounts {
    fileprivate init(_ times: WorkerNotice.Heartbeat.Times) {
        self.init(times.counts, from: Int(times.first), milliseconds: times.milliseconds)
    }
}

extension AppTotals {
    /// `all` is the number of gateway responses since the start of this coordinator, and `errors` is the number of
    /// these responses that were errors. A response with status 410 does not count as an error.
    var responses: (all: UInt64, errors: UInt64) {
        var (all, errors): (UInt64, UInt64) = (0, 0)
        for (outcome, count) in outcomes {
            switch outcome.kind {
            case .delivered: all += count
            case .failed where FarmReason(rawValue: outcome.reason) == .suppressed: continue
            case .failed:
                all += count
                if !["Unregistered", "ExpiredToken"].contains(outcome.reason) { errors += count }
            case .expired, .cancelled: continue
            }
        }
        for (cause, count) in retries where cause != .coolDown {
            all += count
            errors += count
        }
        return (all, errors)
    }
}

/// An app's current rates and latencies, for `pushfarm status` and `top`.
struct RecentAppNumbers {
    typealias Instant = ContinuousClock.Instant

    /// The number of pushes that got an outcome in the last second.
    private(set) var rate: UInt64 = 0
    /// The number of responses in the last second that were errors.
    private(set) var errors: UInt64 = 0
    /// The gateway's latency in the last ten seconds, in milliseconds; nil if nothing was measured.
    private(set) var latency: (p50: Double, p99: Double)?
    private(set) var wait: Double?

    private var samples: [(at: Instant, gateway: LatencyCounts, wait: LatencyCounts)] = []
    private var last: (at: Instant, settled: UInt64, errors: UInt64)?
    private static let window = 10

    /// Calculates the numbers of the last second. Call this function once a second, with the sums that were counted
    /// since the start of this coordinator.
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
