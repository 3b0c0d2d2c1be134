import APNs
import BinaryProtocol
import ControlChannel
import EventLoop
import FarmPolicy
import PushModel
import RedisClient
import StoreProtocol

/// An app's numbers on the metrics page.
@Loop enum AppMetrics {
    /// - Parameters:
    ///   - name: the label of the app.
    ///   - heartbeats: what each worker last said of the app.
    static func add(
        _ app: HostedApp, as name: String, heartbeats: [Notice.Heartbeat.App], backlog: BacklogReading?,
        to page: inout MetricsPage
    ) {
        let totals = app.context.totals
        addOutcomes(totals, name, to: &page)
        addTimes(totals, name, to: &page)
        func gauge(_ metric: String, _ help: String, _ value: Double) {
            page.add("pushfarm_" + metric, .gauge, help, ["app": name], value)
        }
        func counter(_ metric: String, _ help: String, _ value: UInt64) {
            page.add("pushfarm_" + metric, .counter, help, ["app": name], Double(value))
        }
        counter("sent_total", "Pushes that left for the gateway, repeated ones included.", totals.sent)
        counter("dials_total", "Gateway connections that were dialled.", totals.dials)
        counter(
            "maybe_duplicated_total", "Pushes sent again though the first answer stayed unknown.",
            totals.maybeDuplicated)
        gauge(
            "connections", "Gateway connections of this host's workers.",
            Double(heartbeats.reduce(0) { $0 + Int($1.connections) }))
        gauge(
            "streams", "Pushes of this host's workers in the air.",
            Double(heartbeats.reduce(0) { $0 + Int($1.openStreams) }))
        gauge(
            "slowed_to_pushes_per_second", "To what the gateway's trouble slows workers down; 0: to nothing.",
            Double(heartbeats.reduce(0) { $0 + Int($1.slowedTo) }))
        gauge("leases", "Shards of the app that are this host's.", Double(app.leases.tokens.count))
        gauge("intake_owner", "1 at the host that has the app's intake.", app.leases.intake == nil ? 0 : 1)
        gauge("app_paused", "1 while the app is paused.", app.credentials.pauseReason == nil ? 0 : 1)
        if let end = app.credentials.expiresAt {
            gauge(
                "credential_expires_timestamp_seconds", "When the app's certificate expires, since 1970.",
                Double(end))
        }
        if let backlog { add(backlog, name, to: &page) }
    }

    private static func addOutcomes(_ totals: AppTotals, _ name: String, to page: inout MetricsPage) {
        func add(_ lane: Lane, _ kind: AppTotals.Outcome.Kind, _ reason: String, _ count: UInt64) {
            page.add(
                "pushfarm_pushes_total", .counter,
                "Pushes that have an outcome, as this host has booked them.",
                ["app": name, "lane": lane.name, "outcome": kind.rawValue, "reason": reason], Double(count))
        }
        // From the beginning: what appears with its first count has no rate.
        for lane in Lane.allCases { add(lane, .delivered, "", 0) }
        let outcomes = totals.outcomes.sorted {
            ($0.key.lane.rawValue, $0.key.kind.rawValue, $0.key.reason)
                < ($1.key.lane.rawValue, $1.key.kind.rawValue, $1.key.reason)
        }
        for (outcome, count) in outcomes { add(outcome.lane, outcome.kind, outcome.reason, count) }
        for cause in RetryCause.allCases {
            page.add(
                "pushfarm_retries_total", .counter, "Pushes that are tried again, by cause.",
                ["app": name, "cause": cause.name], Double(totals.retries[cause] ?? 0))
        }
    }

    private static func addTimes(_ totals: AppTotals, _ name: String, to page: inout MetricsPage) {
        for lane in Lane.allCases {
            page.add(
                "pushfarm_queue_wait_seconds",
                "From the split of a job, or its start, to a push's first departure.",
                ["app": name, "lane": lane.name], totals.wait(lane), bounds: LatencyCounts.buckets - 1)
        }
        page.add(
            "pushfarm_gateway_latency_seconds",
            "From a push's departure to the gateway's answer, over HTTP/2.",
            ["app": name], totals.gateway, bounds: 17)
        page.add(
            "pushfarm_settle_latency_seconds", "From a worker's report to its booking, a report each.",
            ["app": name], totals.settle, bounds: 17)
    }

    private static func add(_ reading: BacklogReading, _ name: String, to page: inout MetricsPage) {
        func gauge(_ metric: String, _ help: String, _ labels: MetricsPage.Labels, _ value: Int) {
            page.add("pushfarm_" + metric, .gauge, help, labels, Double(value))
        }
        let depths = reading.depths
        gauge("backlog_pushes", "Pushes without an outcome that are in a batch.", ["app": name], depths.open)
        gauge("inbox_jobs", "Jobs that are not split yet.", ["app": name], depths.inbox + depths.taken)
        for lane in Lane.allCases {
            gauge(
                "ready_batches", "Batches that wait for a worker.", ["app": name, "lane": lane.name],
                depths.shards.reduce(0) { $0 + (lane == .high ? $1.high : $1.bulk) })
            page.add(
                "pushfarm_backlog_age_seconds", .gauge,
                "How long the oldest push has waited; 0 when none waits.",
                ["app": name, "lane": lane.name],
                reading.ages[lane].map { $0 / .seconds(1) } ?? 0)
        }
        gauge(
            "in_flight_batches", "Batches in workers' hands.", ["app": name],
            depths.shards.reduce(0) { $0 + $1.flight })
        gauge(
            "delayed_batches", "Batches that wait for their start or a retry.", ["app": name], depths.delayed)
        gauge("paused_batches", "Batches that are paused or quarantined.", ["app": name], depths.parked)
        gauge("unsettled_reports", "Reports that are not booked yet.", ["app": name], depths.results)
        gauge(
            "refused_jobs_last_minute", "Jobs that were refused in the last minute.", ["app": name],
            reading.refusedLastMinute)
        func counter(_ metric: String, _ help: String, _ value: Int) {
            page.add("pushfarm_" + metric, .counter, help, ["app": name], Double(value))
        }
        counter(
            "refused_jobs_total", "Jobs that were refused, as Redis counts them.", reading.refusals.refused)
        counter(
            "duplicate_jobs_total", "Jobs whose id was taken, as Redis counts them.",
            reading.refusals.duplicates)
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

/// The reasons of failures that have a label of their own: what a gateway may say has no end, and each label costs a time series.
enum MetricReasons {
    static let other = "other"

    private static let known = Set(
        Reason.allCases.map(\.rawValue) + FarmReason.allCases.map(\.rawValue)
            + (0...UInt8.max).map { BinaryStatus(rawValue: $0).reason }.filter { !$0.hasPrefix("Status") }
            + ["ClosedWithoutReply"])

    static func name(_ reason: String) -> String { known.contains(reason) ? reason : other }
}
