import EventLoop
import FarmPolicy
import RedisClient
import StoreProtocol

/// A snapshot of the farm's state.
struct FarmStatus: Sendable {
    var hosts: [HostStatus]
    var apps: [AppStatus]
    let redis: RedisInfo
    /// Firing alerts, the worst first, and the latest changes of alerts.
    var alerts: [FarmRedis.ActiveAlert] = []
    var latest: [AlertEntry] = []
    /// Redis's clock in milliseconds since 1970.
    var at: Int64 = 0

    /// - Parameter countsJobs: whether to count the open jobs of each app; this count takes a while.
    @Loop static func read(
        from client: FarmClient, countsJobs: Bool = true
    ) async throws(CommandFailure) -> FarmStatus {
        let hosts = try await client.hosts()
        let shards = try await client.fixedShards()
        let info = try await client.ask { farmRedis throws(RedisError) in try await farmRedis.info() }
        var apps: [AppStatus] = []
        for app in try await client.apps() {
            apps.append(
                try await AppStatus.read(app, shards: shards, from: client, countsJobs: countsJobs))
        }
        var status = FarmStatus(hosts: hosts, apps: apps, redis: info)
        status.alerts = try await client.ask { farmRedis throws(RedisError) in
            try await farmRedis.activeAlerts()
        }
        .sorted { ($1.level, $0.since) < ($0.level, $1.since) }
        status.latest = try await client.ask { farmRedis throws(RedisError) in
            try await farmRedis.latestAlerts(count: 10)
        }.map { AlertEntry($0) }
        status.at = Int64(clamping: try await client.clock() / .milliseconds(1))
        return status
    }

    /// Hosts whose coordinator is alive.
    var live: [HostStatus] { hosts.filter { !$0.isGone } }

    /// The campaigns that are started and not over, each once.
    var campaigns: [HostStatus.Campaign] {
        var known: Set<[String]> = []
        return live.flatMap(\.campaigns).filter { known.insert([$0.app, $0.campaign]).inserted }
    }

    typealias Sums = (rate: Int, errors: Int, connections: Int, streams: Int, p50: Int?, p99: Int?)

    /// The sums of all hosts for an app.
    func sums(of app: String) -> Sums {
        let all = live.compactMap { $0.apps.first { $0.app == app } }
        return (
            all.reduce(0) { $0 + $1.rate }, all.reduce(0) { $0 + $1.errors },
            all.reduce(0) { $0 + $1.connections }, all.reduce(0) { $0 + $1.streams },
            all.compactMap(\.p50).max(), all.compactMap(\.p99).max()
        )
    }

    /// The problems, one sentence each. Empty when there is no problem.
    var troubles: [String] {
        var troubles: [String] = []
        if live.isEmpty { troubles.append("no coordinator is running") }
        for host in hosts where host.isGone { troubles.append("host \(host.host) is gone") }
        for host in hosts where host.state == "running" {
            if let intake = host.intake, ["backing-off", "failed"].contains(intake.state) {
                troubles.append("the intake of \(host.host) keeps crashing")
            }
        }
        for host in hosts where host.state == "running" {
            for worker in host.workers where worker.state == "failed" {
                troubles.append("worker \(worker.worker) of \(host.host) was given up, see its log")
            }
        }
        for host in live {
            troubles += host.problems.map { "\(host.host): \($0)" }
        }
        troubles += hosts.flatMap(\.quietOwners)
        if let allDrained { troubles.append(allDrained) }
        if hosts.contains(where: { $0.state == "running" }) {
            // If no host has the app and the app has no work, it is not a problem that its shards have no owner.
            for app in apps where app.unowned > 0 && (!app.owners.isEmpty || app.hasWork) {
                troubles.append("\(app.app): \(app.unowned) of its shards have no owner")
            }
        }
        for app in apps {
            for fault in app.faults.wrongTypes {
                troubles.append("\(app.app) stands still: the Redis key \(fault.text)")
            }
            troubles += app.faults.unreadableWords.map { "\(app.app): \($0), see pushfarm debug fsck" }
            if let pause = app.pause { troubles.append("\(app.app) is paused: \(pause.reason)") }
            for shard in app.pausedShards {
                troubles.append("\(app.app): shard \(shard.shardNumber) is not served: \(shard.words)")
            }
            if let full = app.full { troubles.append("\(app.app) is full: \(full.reason.text)") }
            if let feedback = app.feedback, feedback.failures > 0 {
                troubles.append("\(app.app): its feedback service cannot be read: \(feedback.error)")
            }
            for owner in app.owners where owner.leaseRemaining < .zero {
                troubles.append("\(app.app): the lease of \(owner.host) on \(owner.shards) shards has ended")
            }
        }
        for app in apps where app.depths.paused > 0 {
            let batches = app.depths.paused == 1 ? "a batch is" : "\(app.depths.paused) batches are"
            troubles.append("\(app.app): \(batches) paused or quarantined, see pushfarm paused")
        }
        for host in live {
            for shard in host.quarantined {
                troubles.append(
                    "\(shard.app): shard \(shard.shard) waits \(shard.milliseconds) ms more after crashes")
            }
        }
        if !redis.evictionPolicy.isEmpty, redis.evictionPolicy != "noeviction" {
            troubles.append("Redis may evict keys: maxmemory-policy is \(redis.evictionPolicy)")
        }
        return troubles + alerts.filter { !$0.isSeenOtherwise }.map(text)
    }

    /// A sentence if all hosts are drained; otherwise nil, because as long as one host is not drained, it serves the
    /// shards of the drained hosts.
    private var allDrained: String? {
        guard !live.isEmpty, live.allSatisfy({ $0.state == "drained" }) else { return nil }
        let names = live.map(\.host).joined(separator: ", ")
        return "nothing is sent: \(names) drained; reload brings a host back"
    }

    /// The alert's text. For an alert about the age of the backlog, a text with the present age.
    private func text(_ alert: FarmRedis.ActiveAlert) -> String {
        guard alert.isOfBacklog, let age = apps.first(where: { $0.app == alert.app })?.ages.oldest
        else { return alert.text }
        return "\(alert.app ?? ""): the oldest push has waited \(Figures.brief(age))"
    }

    var json: JSONValue {
        .object([
            "hosts": .array(hosts.map(\.json)), "apps": .array(apps.map(\.json)),
            "redis": .object([
                "version": .string(redis.version), "memory": .number(redis.usedMemory),
                "max_memory": .number(redis.maxMemory), "policy": .string(redis.evictionPolicy),
            ]), "alerts": .array(alerts.map(\.json)), "last_alerts": .array(latest.map(\.json)),
            "troubles": .strings(troubles),
        ])
    }
}

/// A firing alert, for people.
extension FarmRedis.ActiveAlert {
    private var alert: Alert? { Alert(id: id) }
    private var kind: String { alert?.kind.rawValue ?? id }

    var app: String? { if case .app(let name) = alert?.scope { name } else { nil } }
    private var host: String? { if case .host(let name) = alert?.scope { name } else { nil } }

    /// Whether another line of the status already reports the problem of the alert, so that a line for the alert is not
    /// needed.
    fileprivate var isSeenOtherwise: Bool {
        [.appPaused, .hostGone, .keyType, .unreadable].contains(alert?.kind)
    }

    fileprivate var isOfBacklog: Bool { alert?.kind == .backlogAge }

    fileprivate var json: JSONValue {
        let subject = alert?.subject ?? ""
        return .object([
            "alert": .string(kind), "app": .text(app), "host": .text(host),
            "subject": .text(subject.isEmpty ? nil : subject), "level": .number(level),
            "since": .number(since), "text": .string(text),
        ])
    }
}

/// An alert that fired or cleared, as it is in the farm's event stream.
struct AlertEntry: Sendable, Equatable {
    var at: Int64
    var hasFired: Bool
    var kind: String
    var app: String?
    var host: String?
    var text: String

    init(_ fields: [String: String]) {
        at = fields["at"].flatMap { Int64(foreign: $0) } ?? 0
        hasFired = fields["type"] != "alert.cleared"
        kind = fields["alert"] ?? ""
        (app, host) = (fields["app"], fields["host"])
        text = fields["text"] ?? ""
    }

    var json: JSONValue {
        .object([
            "at": .number(at), "type": .string(hasFired ? "alert.fired" : "alert.cleared"),
            "alert": .string(kind), "app": .text(app), "host": .text(host), "text": .string(text),
        ])
    }
}
