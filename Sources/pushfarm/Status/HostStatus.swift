import Foundation

/// The status of a host and its workers, which the coordinator writes to Redis. Commands of older and newer releases
/// can also read it.
struct HostStatus: StatusPart {
    var host = ""
    var pid = 0
    var state = ""
    /// The most workers that the host can run.
    var capacity = 0
    /// Whether the autoscaler chooses the number of workers.
    var isAuto = false
    /// The coordinator's start time in Unix milliseconds.
    var since: Int64 = 0
    /// The intake's status; nil if the host runs an older release that does not write it.
    var intake: IntakeStatus?
    var workers: [WorkerStatus] = []
    var apps: [App] = []
    /// The campaigns of the apps whose intake is on the host.
    var campaigns: [Campaign] = []
    var quarantined: [Quarantined] = []
    /// The reasons why changed files are not applied.
    var problems: [String] = []

    static var fields: [StatusField<HostStatus>] {
        [
            .text("host", \.host), .number("pid", \.pid), .text("state", \.state),
            .number("capacity", \.capacity), .flag("auto", \.isAuto), .number("since", \.since),
            .part("intake", \.intake), .parts("workers", \.workers), .parts("apps", \.apps),
            .parts("campaigns", \.campaigns), .parts("quarantined_shards", \.quarantined),
            .texts("problems", \.problems),
        ]
    }

    /// - Parameters:
    ///   - name: the host's name in Redis, which overrides the name in the JSON.
    ///   - isAlive: false if the host's heartbeat has expired. If false, the state of the host becomes "gone".
    init(name: String, json: [UInt8], isAlive: Bool) {
        // When the status is unreadable, only the host's name is known.
        self = (try? JSONDecoder().decode(HostStatus.self, from: Data(json))) ?? HostStatus()
        host = name
        if !isAlive { becomeGone() }
    }

    init() {}

    /// Sets the state to "gone", and marks all processes of the host as neither sending nor ready. The counts
    /// remain.
    private mutating func becomeGone() {
        state = "gone"
        if var gone = intake {
            (gone.state, gone.pid, gone.rate) = ("gone", nil, 0)
            intake = gone
        }
        for index in workers.indices { workers[index].becomeGone() }
        for index in apps.indices { apps[index].becomeGone() }
    }
}

extension HostStatus {
    /// A shard that is quarantined because its pushes were in flight in several crashes.
    struct Quarantined: StatusPart {
        var app = ""
        var shard = 0
        /// Milliseconds until the shard is served again.
        var milliseconds = 0

        static var fields: [StatusField<Quarantined>] {
            [.text("app", \.app), .number("shard", \.shard), .number("milliseconds", \.milliseconds)]
        }
    }

    /// One of the host's workers. The counts begin at the start of the worker's process.
    struct WorkerStatus: StatusPart {
        var worker = ""
        /// The process id, or nil without a process.
        var pid: Int?
        var state = ""
        var shards = 0
        var connections = 0
        var streams = 0
        /// Pushes per second.
        var rate = 0
        /// The pushes per second to which the worker limits the apps whose gateways have trouble; 0 if no app is
        /// limited.
        var slowedTo = 0
        var restarts = 0
        /// Resident memory in bytes.
        var rss = 0
        var delivered = 0
        var failed = 0
        var retried = 0
        /// For how many percent of the time the worker's process runs on a processor or waits for one.
        var busy = 0
        /// The start time of the process in Unix milliseconds, or 0 without a process.
        var since: Int64 = 0

        static var fields: [StatusField<WorkerStatus>] {
            [.text("worker", \.worker), .pid(\.pid), .text("state", \.state)]
                + StatusField.numbers([
                    "shards": \.shards, "connections": \.connections, "streams": \.streams, "rate": \.rate,
                    "slowed_to": \.slowedTo, "restarts": \.restarts, "rss": \.rss, "delivered": \.delivered,
                    "failed": \.failed, "retried": \.retried, "busy": \.busy,
                ]) + [.number("since", \.since)]
        }

        fileprivate mutating func becomeGone() {
            (state, pid, shards) = ("gone", nil, 0)
            (connections, streams, rate, slowedTo, busy, since) = (0, 0, 0, 0, 0, 0)
        }
    }

    /// The process that takes and splits the host's jobs. The counts begin at the start of the process.
    struct IntakeStatus: StatusPart {
        /// The process id, or nil without a process.
        var pid: Int?
        var state = ""
        /// Jobs per second.
        var rate = 0
        var restarts = 0
        /// Resident memory in bytes.
        var rss = 0
        /// Jobs that the intake has finished, refused jobs included.
        var jobs = 0
        var refused = 0
        /// Pushes that the intake has put into batches.
        var pushes = 0

        static var fields: [StatusField<IntakeStatus>] {
            [.pid(\.pid), .text("state", \.state)]
                + StatusField.numbers([
                    "rate": \.rate, "restarts": \.restarts, "rss": \.rss, "jobs": \.jobs,
                    "refused": \.refused, "pushes": \.pushes,
                ])
        }
    }

    /// The host's work for one app. The counts begin at the coordinator's start.
    struct App: StatusPart {
        var app = ""
        var shards = 0
        var connections = 0
        var streams = 0
        /// Outcomes per second.
        var rate = 0
        /// Error responses per second.
        var errors = 0
        var slowedTo = 0
        var delivered = 0
        var failed = 0
        var retried = 0
        /// The median of the gateway's response times in the last ten seconds, in milliseconds; nil without
        /// responses.
        var p50: Int?
        /// The 99th percentile of the response time, like ``p50``.
        var p99: Int?
        /// The 99th percentile of the time that pushes waited before they were sent, in milliseconds; nil if nothing
        /// was measured.
        var wait: Int?

        static var fields: [StatusField<App>] {
            [.text("app", \.app)]
                + StatusField.numbers([
                    "shards": \.shards, "rate": \.rate, "errors": \.errors, "connections": \.connections,
                    "streams": \.streams, "slowed_to": \.slowedTo, "delivered": \.delivered,
                    "failed": \.failed, "retried": \.retried,
                ]) + [.time("p50", \.p50), .time("p99", \.p99), .time("wait", \.wait)]
        }

        fileprivate mutating func becomeGone() {
            (shards, connections, streams, rate, errors, slowedTo) = (0, 0, 0, 0, 0, 0)
            (p50, p99, wait) = (nil, nil, nil)
        }
    }
}

extension HostStatus {
    /// A campaign that is started and not over.
    struct Campaign: StatusPart {
        var app = ""
        var campaign = ""
        /// `scheduled`, `running` or `paused`.
        var state = ""
        var isLate = false
        var round = 0
        var rounds = 0
        /// The devices of the present rounds, and those of them that are handled.
        var counted = 0
        var handled = 0
        /// The devices that all rounds have handled.
        var total = 0
        /// About how many milliseconds the present rounds still take; nil if nothing is sent now.
        var remaining: Int?
        /// When the next round or window begins, in Unix milliseconds; nil if none follows.
        var next: Int?

        static var fields: [StatusField<Campaign>] {
            [
                .text("app", \.app), .text("campaign", \.campaign), .text("state", \.state),
                .flag("late", \.isLate),
            ]
                + StatusField.numbers([
                    "round": \.round, "rounds": \.rounds, "counted": \.counted, "handled": \.handled,
                    "total": \.total,
                ]) + [.time("remaining_ms", \.remaining), .time("next", \.next)]
        }

        /// The share of the devices of the present rounds that are handled, 0 to 1.
        var share: Double { counted > 0 ? min(1, Double(handled) / Double(counted)) : 0 }
        /// ``share`` in percent, rounded down.
        var percent: Int { counted > 0 ? min(100, handled * 100 / counted) : 0 }
        /// The state for people.
        var word: String { isLate ? "late" : state }
    }
}

extension HostStatus {
    /// Whether the host's heartbeat has expired.
    var isGone: Bool { state == "gone" }
    /// Pushes per second.
    var rate: Int { workers.reduce(0) { $0 + $1.rate } }

    /// Whether the host is alive and none of its workers takes new work.
    var servesNothing: Bool {
        switch state {
        case "quiet", "drained": true
        case "running": !workers.isEmpty && workers.allSatisfy { ["quiet", "stopped"].contains($0.state) }
        default: false
        }
    }

    /// Sentences about problems: the host or some of its workers are quiet and still have shards, so the pushes of
    /// these shards are not sent.
    var quietOwners: [String] {
        if state == "quiet" {
            // A quiet host is a problem only while it still owns shards, because no host sends the pushes of
            // these shards.
            let hasShards = apps.contains { $0.shards > 0 } || workers.contains { $0.shards > 0 }
            return hasShards
                ? ["\(host) is quiet: its shards are not served until pushfarm resume \(host)"] : []
        }
        let still = ["quiet", "stopped"]
        return workers.filter { state == "running" && still.contains($0.state) && $0.shards > 0 }.map {
            "worker \($0.worker) of \(host) is \($0.state): its shards are not served until it is restarted"
        }
    }
}
