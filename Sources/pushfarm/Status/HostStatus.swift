import Foundation

/// What a coordinator writes about its host and its workers, as an older or a newer command can read it.
struct HostStatus: StatusPart {
    var host = ""
    var pid = 0
    var state = ""
    /// How many workers the host can run.
    var capacity = 0
    /// How many of them there are follows the load.
    var isAuto = false
    /// Unix milliseconds.
    var since: Int64 = 0
    /// Nil in an older farm.
    var intake: IntakeStatus?
    var workers: [WorkerStatus] = []
    var apps: [App] = []
    var quarantined: [Quarantined] = []
    /// Why changed files are not applied.
    var problems: [String] = []

    static var fields: [StatusField<HostStatus>] {
        [
            .text("host", \.host), .number("pid", \.pid), .text("state", \.state),
            .number("capacity", \.capacity), .flag("auto", \.isAuto), .number("since", \.since),
            .part("intake", \.intake), .parts("workers", \.workers), .parts("apps", \.apps),
            .parts("quarantined_shards", \.quarantined), .texts("problems", \.problems),
        ]
    }

    /// - Parameters:
    ///   - name: the host's name in Redis, which counts.
    ///   - isAlive: false when its line has ended: then it is called "gone".
    init(name: String, json: [UInt8], isAlive: Bool) {
        // Of an unreadable status line only the name of the host is known.
        self = (try? JSONDecoder().decode(HostStatus.self, from: Data(json))) ?? HostStatus()
        host = name
        if !isAlive { becomeGone() }
    }

    init() {}

    /// The last status line is no longer true: no process of the host sends or is ready. The counts remain.
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
        /// Until it is served again.
        var milliseconds = 0

        static var fields: [StatusField<Quarantined>] {
            [.text("app", \.app), .number("shard", \.shard), .number("milliseconds", \.milliseconds)]
        }
    }

    /// One of the host's workers. Counts are since the process's start.
    struct WorkerStatus: StatusPart {
        var worker = ""
        /// Nil as long as there is no process.
        var pid: Int?
        var state = ""
        var shards = 0
        var connections = 0
        var streams = 0
        /// Pushes a second.
        var rate = 0
        /// Pushes a second of the apps that go slower because their gateway is in trouble; 0: none does.
        var slowedTo = 0
        var restarts = 0
        /// Bytes.
        var rss = 0
        var delivered = 0
        var failed = 0
        var retried = 0
        /// Percent of a processor that it takes or waits for.
        var busy = 0
        /// When its process began, in Unix milliseconds; 0: there is none.
        var since: Int64 = 0

        static var fields: [StatusField<WorkerStatus>] {
            [
                .text("worker", \.worker), .pid(\.pid), .text("state", \.state),
                .number("shards", \.shards), .number("connections", \.connections),
                .number("streams", \.streams), .number("rate", \.rate), .number("slowed_to", \.slowedTo),
                .number("restarts", \.restarts), .number("rss", \.rss), .number("delivered", \.delivered),
                .number("failed", \.failed), .number("retried", \.retried), .number("busy", \.busy),
                .number("since", \.since),
            ]
        }

        fileprivate mutating func becomeGone() {
            (state, pid, shards) = ("gone", nil, 0)
            (connections, streams, rate, slowedTo, busy, since) = (0, 0, 0, 0, 0, 0)
        }
    }

    /// The process that takes the host's jobs in. Counts are since its start.
    struct IntakeStatus: StatusPart {
        /// Nil as long as there is no process.
        var pid: Int?
        var state = ""
        /// Jobs a second.
        var rate = 0
        var restarts = 0
        /// Bytes.
        var rss = 0
        /// Jobs done with, refused ones among them, and pushes put into batches.
        var jobs = 0
        var refused = 0
        var pushes = 0

        static var fields: [StatusField<IntakeStatus>] {
            [
                .pid(\.pid), .text("state", \.state), .number("rate", \.rate),
                .number("restarts", \.restarts), .number("rss", \.rss), .number("jobs", \.jobs),
                .number("refused", \.refused), .number("pushes", \.pushes),
            ]
        }
    }

    /// What the host does of an app. Counts are since its coordinator's start.
    struct App: StatusPart {
        var app = ""
        var shards = 0
        var connections = 0
        var streams = 0
        /// Pushes that get an outcome, and answers that are errors, a second.
        var rate = 0
        var errors = 0
        var slowedTo = 0
        var delivered = 0
        var failed = 0
        var retried = 0
        /// Milliseconds of the last ten seconds: the gateway's answers, and the wait before the departure; nil without any.
        var p50: Int?
        var p99: Int?
        var wait: Int?

        static var fields: [StatusField<App>] {
            [
                .text("app", \.app), .number("shards", \.shards), .number("rate", \.rate),
                .number("errors", \.errors), .number("connections", \.connections),
                .number("streams", \.streams), .number("slowed_to", \.slowedTo),
                .number("delivered", \.delivered), .number("failed", \.failed),
                .number("retried", \.retried), .time("p50", \.p50), .time("p99", \.p99),
                .time("wait", \.wait),
            ]
        }

        fileprivate mutating func becomeGone() {
            (shards, connections, streams, rate, errors, slowedTo) = (0, 0, 0, 0, 0, 0)
            (p50, p99, wait) = (nil, nil, nil)
        }
    }
}

extension HostStatus {
    /// Its last status is no longer true.
    var isGone: Bool { state == "gone" }
    /// Pushes a second.
    var rate: Int { workers.reduce(0) { $0 + $1.rate } }

    /// The host lives and none of its workers takes anything.
    var servesNothing: Bool {
        switch state {
        case "quiet", "drained": true
        case "running": !workers.isEmpty && workers.allSatisfy { ["quiet", "stopped"].contains($0.state) }
        default: false
        }
    }

    /// The host, or those of its workers, that have shards and do not serve them, with the way to resume them.
    var quietPlaces: [String] {
        if state == "quiet" {
            // That others have a quiet host's shards is no trouble.
            let hasShards = apps.contains { $0.shards > 0 } || workers.contains { $0.shards > 0 }
            return hasShards ? ["\(host) is quiet: its shards wait until pushfarm resume \(host)"] : []
        }
        let still = ["quiet", "stopped"]
        return workers.filter { state == "running" && still.contains($0.state) && $0.shards > 0 }.map {
            "worker \($0.worker) of \(host) is \($0.state): its shards wait until it is restarted"
        }
    }
}
