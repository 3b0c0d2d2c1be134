import APNs
import BinaryProtocol
import ControlChannel
import EventLoop
import FarmPolicy
import PushModel
import StoreProtocol

/// An app's metrics on the metrics page.
@Loop struct AppMetrics {
    let app: HostedApp
    /// The app's label in the metrics.
    let label: String
    /// The app's numbers in each worker's last heartbeat.
    let heartbeats: [WorkerNotice.Heartbeat.App]
    let backlog: BacklogReading?
    /// The app's numbers in the intake's last heartbeat; nil if this host does not have the app's intake.
    let intake: IntakeNotice.Heartbeat.App?

    private var totals: AppTotals { app.context.totals }
    private var labels: MetricsPage.Labels { ["app": label] }

    func add(to page: inout MetricsPage) {
        addOutcomes(to: &page)
        addTimes(to: &page)
        page.add(
            "pushfarm_sent_total", "Attempts to send pushes, including retries.", totals.sent,
            labels)
        page.add("pushfarm_dials_total", "Gateway connections that were opened.", totals.dials, labels)
        page.add(
            "pushfarm_maybe_duplicated_total", "Pushes that were sent again after an unknown outcome.",
            totals.maybeDuplicated, labels)
        page.add(
            "pushfarm_connections", "Gateway connections of this host's workers.",
            heartbeats.reduce(0) { $0 + Int($1.connections) }, labels)
        page.add(
            "pushfarm_streams", "Pushes in flight from this host's workers.",
            heartbeats.reduce(0) { $0 + Int($1.openStreams) }, labels)
        page.add(
            "pushfarm_slowed_to_pushes_per_second",
            "Send rate while the gateway has problems; 0: not reduced.",
            heartbeats.reduce(0) { $0 + Int($1.slowedTo) }, labels)
        let machine = app.leases.machine
        page.add(
            "pushfarm_leases", "Shards of the app that this host owns.", machine.fenceTokens.count, labels)
        page.add(
            "pushfarm_intake_owner", "1 on the host that has the app's intake.", machine.intake != nil, labels
        )
        page.add(
            "pushfarm_app_paused", "1 while the app is paused.", app.credentials.pauseReason != nil, labels)
        if let end = app.credentials.files.expiresAt {
            page.add(
                "pushfarm_credential_expires_timestamp_seconds",
                "When the app's certificate expires, in seconds since 1970.", end, labels)
        }
        if let backlog { add(backlog, to: &page) }
        if let intake { CampaignMetrics(label: label, numbers: intake).add(to: &page) }
    }

    private func addOutcomes(to page: inout MetricsPage) {
        func add(_ lane: Lane, _ kind: AppTotals.Outcome.Kind, _ reason: String, _ count: UInt64) {
            page.add(
                "pushfarm_outcomes_total", "Pushes with an outcome that this host has settled.", count,
                ["app": label, "lane": lane.name, "outcome": kind.rawValue, "reason": reason])
        }
        // Write zeros before the first push. If a time series began with the value 1, Prometheus could not see the
        // increase from 0 to 1, and would compute a rate of 0.
        for lane in Lane.allCases { add(lane, .delivered, "", 0) }
        let outcomes = totals.outcomes.sorted {
            ($0.key.lane.rawValue, $0.key.kind.rawValue, $0.key.reason)
                < ($1.key.lane.rawValue, $1.key.kind.rawValue, $1.key.reason)
        }
        for (outcome, count) in outcomes { add(outcome.lane, outcome.kind, outcome.reason, count) }
        for cause in RetryCause.allCases {
            page.add(
                "pushfarm_retries_total", "Retries of pushes, by cause.",
                totals.retries[cause] ?? 0, ["app": label, "cause": cause.name])
        }
    }

    private func addTimes(to page: inout MetricsPage) {
        for lane in Lane.allCases {
            page.add(
                "pushfarm_queue_wait_seconds",
                "From the split or start of a job to the first send of a push.",
                ["app": label, "lane": lane.name], totals.wait(lane), bounds: LatencyCounts.buckets - 1)
        }
        page.add(
            "pushfarm_gateway_latency_seconds",
            "From the send of a push to the gateway's response, over HTTP/2.", labels, totals.gateway,
            bounds: 17)
        page.add(
            "pushfarm_settle_latency_seconds", "From a worker's report to its settlement.",
            labels, totals.settle, bounds: 17)
    }

    private func add(_ reading: BacklogReading, to page: inout MetricsPage) {
        let depths = reading.depths
        page.add(
            "pushfarm_backlog_pushes", "Pushes in batches without an outcome.", depths.open, labels)
        page.add("pushfarm_inbox_jobs", "Jobs that are not split yet.", depths.inbox + depths.taken, labels)
        for lane in Lane.allCases {
            let labels: MetricsPage.Labels = ["app": label, "lane": lane.name]
            page.add(
                "pushfarm_ready_batches", "Batches that wait for a worker.",
                depths.shards.reduce(0) { $0 + (lane == .high ? $1.high : $1.bulk) }, labels)
            page.add(
                "pushfarm_backlog_age_seconds", "Age of the oldest queued push; 0 if no push is queued.",
                reading.ages[lane].map { $0 / .seconds(1) } ?? 0.0, labels)
        }
        page.add(
            "pushfarm_in_flight_batches", "Batches that workers have checked out.",
            depths.shards.reduce(0) { $0 + $1.flight }, labels)
        page.add(
            "pushfarm_delayed_batches", "Batches that wait for their start time or a retry.", depths.delayed,
            labels)
        CampaignMetrics.add(waiting: reading.waitingInputs, label: label, to: &page)
        page.add("pushfarm_paused_batches", "Batches that are paused or quarantined.", depths.paused, labels)
        page.add("pushfarm_unsettled_reports", "Reports that are not settled yet.", depths.results, labels)
        page.add(
            "pushfarm_refused_jobs_last_minute", "Jobs that were refused in the last minute.",
            reading.refusedLastMinute, labels)
        page.add(
            "pushfarm_refused_jobs_total", "Jobs that were refused, counted in Redis.",
            reading.refusals.refused, labels)
        page.add(
            "pushfarm_duplicate_jobs_total", "Jobs whose id was already used, counted in Redis.",
            reading.refusals.duplicates, labels)
    }
}

extension RetryCause {
    var name: String {
        switch self {
        case .throttled: "throttled"
        case .server: "server"
        case .unknownOutcome: "unknown"
        case .authSlow: "auth"
        case .processing: "processing"
        case .coolDown: "cool_down"
        }
    }
}

/// The reasons of failures that have their own label value. A gateway may send any text as a reason, and each label
/// value makes another time series, so other reasons do not get their own label value.
enum MetricReasons {
    static let other = "other"

    private static let known = Set(
        Reason.allCases.map(\.rawValue) + FarmReason.allCases.map(\.rawValue)
            + (0...UInt8.max).map { BinaryStatus(rawValue: $0).reason }.filter { !$0.hasPrefix("Status") }
            + ["ClosedWithoutReply"])

    static func name(_ reason: String) -> String { known.contains(reason) ? reason : other }
}
