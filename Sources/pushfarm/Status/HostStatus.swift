import Foundation

/// What a coordinator writes about its host and its workers, as an older or a newer command can read it.
struct HostStatus: Decodable, Sendable {
    /// A shard that is quarantined because its pushes were in flight in several crashes.
    struct Quarantined: Decodable, Sendable {
        var app = ""
        var shard = 0
        /// Until it is served again.
        var milliseconds = 0

        init(from decoder: any Decoder) throws {
            let fields = try LenientFields(decoder)
            app = fields.text("app")
            shard = fields.number("shard")
            milliseconds = fields.number("milliseconds")
        }

        var json: JSONValue {
            .object([
                "app": .string(app), "shard": .number(shard), "milliseconds": .number(milliseconds),
            ])
        }
    }

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

    /// - Parameters:
    ///   - name: the host's name in Redis, which counts.
    ///   - isAlive: false when its line has ended: then it is called "gone".
    init(name: String, json: [UInt8], isAlive: Bool) {
        // Of an unreadable status line only the name of the host is known.
        self = (try? JSONDecoder().decode(HostStatus.self, from: Data(json))) ?? HostStatus()
        host = name
        if !isAlive { becomeGone() }
    }

    /// The last status line is no longer true: no process of the host sends or is ready.
    private mutating func becomeGone() {
        state = "gone"
        intake?.becomeGone()
        for index in workers.indices { workers[index].becomeGone() }
        for index in apps.indices { apps[index].becomeGone() }
    }

    init(from decoder: any Decoder) throws {
        let fields = try LenientFields(decoder)
        host = fields.text("host")
        pid = fields.number("pid")
        state = fields.text("state")
        capacity = fields.number("capacity")
        isAuto = fields.value("auto") ?? false
        since = fields.number("since")
        intake = fields.value("intake")
        workers = fields.list("workers")
        apps = fields.list("apps")
        quarantined = fields.list("quarantined_shards")
        problems = fields.list("problems")
    }

    private init() {}

    var json: JSONValue {
        .object([
            "host": .string(host), "pid": .number(pid), "state": .string(state),
            "capacity": .number(capacity), "auto": .bool(isAuto), "since": .number(since),
            "intake": intake?.json ?? .null,
            "workers": .array(workers.map(\.json)), "apps": .array(apps.map(\.json)),
            "quarantined_shards": .array(quarantined.map(\.json)),
            "problems": .array(problems.map { .string($0) }),
        ])
    }
}

extension HostStatus {
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
