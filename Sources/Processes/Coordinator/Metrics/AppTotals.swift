import ControlChannel
import EventLoop
import FarmPolicy
import PushModel
import StoreProtocol

/// Outcomes of an app's pushes since this coordinator started, as it settled them, and latencies.
@Loop final class AppTotals {
    struct Outcome: Hashable {
        enum Kind: String { case delivered, failed, expired, cancelled }
        var lane: Lane
        var kind: Kind
        /// Of failures; one of a bounded number.
        var reason = ""
    }

    private(set) var outcomes: [Outcome: UInt64] = [:]
    private(set) var retries: [RetryCause: UInt64] = [:]
    private(set) var maybeDuplicated: UInt64 = 0
    /// Pushes that left, and connections that were dialled.
    private(set) var sent: UInt64 = 0
    private(set) var dials: UInt64 = 0
    private(set) var gateway = LatencyCounts()
    private(set) var settle = LatencyCounts()
    private(set) var pace = AppPace()
    private var highWait = LatencyCounts()
    private var bulkWait = LatencyCounts()

    func count(_ kind: Outcome.Kind) -> UInt64 {
        outcomes.reduce(0) { $0 + ($1.key.kind == kind ? $1.value : 0) }
    }

    func wait(_ lane: Lane) -> LatencyCounts { lane == .high ? highWait : bulkWait }

    /// To be called once a second.
    func tick(at now: ContinuousClock.Instant) {
        var waits = highWait
        waits.add(bulkWait)
        pace.tick(
            settled: outcomes.values.reduce(0, +), errors: answers.errors, gateway: gateway, wait: waits,
            at: now)
    }

    /// Redis has booked these.
    ///
    /// - Parameter now: Redis's milliseconds.
    func settled(_ settlements: [Settlement], at now: Int64) {
        for settlement in settlements {
            for job in settlement.jobs { add(job, settlement.lane) }
            for (cause, count) in settlement.retried { retries[cause, default: 0] += UInt64(count) }
            settle.add(UInt64(max(0, now - settlement.entry.milliseconds)))
        }
    }

    /// A worker's numbers of the last second.
    func heard(_ heartbeat: Notice.Heartbeat.App) {
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
    fileprivate init(_ times: Notice.Heartbeat.Times) {
        self.init(times.counts, from: Int(times.first), milliseconds: times.milliseconds)
    }
}
