import EventLoop
import PushModel

/// What `pushfarm status` shows of a host: one JSON object, written to Redis every second, and when a child is ready.
@Loop struct HostLine {
    var host: String
    var pid: Int32
    var state: String
    var capacity: Int
    /// How many of them there are follows the load.
    var isAuto: Bool
    /// Unix milliseconds.
    var since: Int64
    var intake: IntakeSlot?
    var slots: [(slot: WorkerSlot, isQuiet: Bool, shards: Int)]
    /// With how many shards this host has of each.
    var apps: [(name: String, shards: Int, totals: AppTotals)] = []
    /// Shards that wait after crashes.
    var quarantined: [(app: String, shard: Int, left: Duration)] = []
    /// Why files that have changed are not followed.
    var problems: [String] = []

    var json: [UInt8] {
        var json = JSONText()
        json.beginObject()
        json.key("host")
        json.value(host)
        json.key("pid")
        json.value(pid)
        json.key("state")
        json.value(state)
        json.key("capacity")
        json.value(capacity)
        json.key("auto")
        json.value(isAuto)
        json.key("since")
        json.value(since)
        if let intake { Self.append(intake, to: &json) }
        json.key("workers")
        json.beginArray()
        for (slot, isQuiet, shards) in slots {
            Self.append(slot, isQuiet: isQuiet, shards: shards, to: &json)
        }
        json.endArray()
        json.key("apps")
        json.beginArray()
        for (name, shards, totals) in apps.prefix(Self.mostApps) { append(name, shards, totals, to: &json) }
        json.endArray()
        json.key("quarantined_shards")
        json.beginArray()
        for (app, shard, left) in quarantined {
            json.beginObject()
            json.key("app")
            json.value(app)
            json.key("shard")
            json.value(Int64(shard))
            json.key("milliseconds")
            json.value(Int64(left.milliseconds))
            json.endObject()
        }
        json.endArray()
        json.key("problems")
        json.beginArray()
        for problem in problems.prefix(Self.mostProblems) {
            json.value(String(problem.prefix(Self.longestProblem)))
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    // The line is written every second.
    private static let mostApps = 100
    private static let mostProblems = 8
    private static let longestProblem = 300

    private func append(_ name: String, _ shards: Int, _ totals: AppTotals, to json: inout JSONText) {
        json.beginObject()
        json.member("app", name)
        let heartbeats = slots.compactMap { slot in slot.slot.heartbeat.apps.first { $0.name == name } }
        let pace = totals.pace
        Self.append(
            [
                ("shards", UInt64(shards)), ("rate", pace.rate), ("errors", pace.errors),
                ("connections", heartbeats.reduce(0) { $0 + UInt64($1.connections) }),
                ("streams", heartbeats.reduce(0) { $0 + UInt64($1.openStreams) }),
                ("slowed_to", heartbeats.reduce(0) { $0 + UInt64($1.slowedTo) }),
                ("delivered", totals.count(.delivered)), ("failed", totals.count(.failed)),
                ("retried", totals.retries.values.reduce(0, +)),
            ], to: &json)
        if let latency = pace.latency {
            json.member("p50", Int(clamping: latency.p50.rounded(.up)))
            json.member("p99", Int(clamping: latency.p99.rounded(.up)))
        }
        if let wait = pace.wait { json.member("wait", Int(clamping: wait.rounded(.up))) }
        json.endObject()
    }

    private static func append(_ intake: IntakeSlot, to json: inout JSONText) {
        json.key("intake")
        json.beginObject()
        json.key("state")
        json.value(intake.state.rawValue)
        let heartbeat = intake.heartbeat
        append(
            [
                ("pid", UInt64(intake.pid)), ("rate", intake.rate), ("restarts", UInt64(intake.restarts)),
                ("rss", heartbeat.residentBytes), ("jobs", heartbeat.jobs), ("refused", heartbeat.refused),
                ("pushes", heartbeat.pushes),
            ], to: &json)
        json.endObject()
    }

    private static func append(
        _ slot: WorkerSlot, isQuiet: Bool, shards: Int, to json: inout JSONText
    ) {
        json.beginObject()
        json.key("worker")
        json.value("\(slot.index)")
        json.key("state")
        json.value(isQuiet && slot.isReady ? "quiet" : slot.state.rawValue)
        let heartbeat = slot.heartbeat
        append(
            [
                ("pid", UInt64(slot.pid)), ("shards", UInt64(shards)),
                ("connections", UInt64(heartbeat.connections)), ("streams", UInt64(heartbeat.openStreams)),
                ("rate", slot.rate), ("slowed_to", heartbeat.slowedTo), ("restarts", UInt64(slot.restarts)),
                ("rss", heartbeat.residentBytes),
                ("delivered", heartbeat.delivered), ("failed", heartbeat.failed),
                ("retried", heartbeat.retried),
                ("busy", UInt64(clamping: (slot.busy * 100).rounded())),
                ("since", slot.pid > 0 ? UInt64(slot.since) : 0),
            ], to: &json)
        json.endObject()
    }

    private static func append(_ numbers: [(name: String, number: UInt64)], to json: inout JSONText) {
        for (name, number) in numbers {
            json.key(name)
            json.value(number)
        }
    }
}
