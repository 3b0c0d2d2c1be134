import FarmHarness
import FarmPolicy
import Testing

extension Farm {
    func events(_ type: String? = nil, app: String = "demo") throws -> [[String: String]] {
        let all = try redis.client().run("XRANGE", "{pushfarm:\(app)}:events", "-", "+").entries
        return type.map { type in all.filter { $0["type"] == type } } ?? all
    }

    func event(_ type: String, app: String = "demo", number: Int = 1) async throws -> [String: String] {
        try await eventually("event \(type) number \(number)") {
            let found = try events(type, app: app)
            return found.count >= number ? found[number - 1] : nil
        }
    }

    /// The ids of the jobs that the intake accepted, in order.
    func accepted(app: String) throws -> [String] {
        try events("job.accepted", app: app).compactMap { $0["job"] }
    }

    /// The fields of the stored refused jobs.
    func refused(app: String = "demo") throws -> [[String: String]] {
        try redis.client().run("XRANGE", "{pushfarm:\(app)}:refused", "-", "+").entries
    }

    /// The keys of the shards' suppression lists.
    func suppressionLists() throws -> [String] {
        try redis.client().run("KEYS", "{pushfarm:demo}:suppressed:*").array?.compactMap(\.text) ?? []
    }

    /// The number of records in all suppression lists.
    func suppressionRecords() throws -> Int {
        let redis = try redis.client()
        return try suppressionLists().reduce(0) { $0 + Int(try redis.run("XLEN", $1).integer ?? 0) }
    }

    // MARK: Owners

    /// The coordinator's log messages about leases that it could not renew in time.
    static let leaseTroubles = [
        "cannot renew leases", "leases are renewed again", "leases lost", "leases have run out",
        "acquiring leases again",
    ]

    /// The owners of shards and intake. Shards without an owner are omitted.
    func owners(of app: String = "demo") throws -> [String: String] {
        try redis.client().run("HGETALL", "{pushfarm:\(app)}:owners").fields
            .filter { !$0.key.hasPrefix("until:") }
            .compactMapValues { token in
                let parts = token.split(separator: ":", omittingEmptySubsequences: false)
                return parts.count == 3 && !parts[2].isEmpty ? String(parts[2]) : nil
            }
    }

    /// The number of shards of each host.
    func shares() throws -> [String: Int] {
        try owners().reduce(into: [:]) { if $1.key != "intake" { $0[$1.value, default: 0] += 1 } }
    }

    /// Starts all hosts of the farm, and waits until they share the apps' shards evenly.
    func startAll() async throws {
        for host in hosts ?? [] { try start(host) }
        try await shared(by: hosts ?? [])
    }

    /// Waits until each shard and intake has the expected owner among these hosts.
    func shared(by hosts: [String], within limit: Duration = .seconds(60)) async throws {
        var last: [String: [String: String]] = [:]
        do {
            try await eventually("the shards are shared by \(hosts)", within: limit) {
                for app in options.appNames { last[app] = try owners(of: app) }
                return options.appNames.allSatisfy { last[$0] == expected(hosts, app: $0) }
            }
        } catch {
            Issue.record("owners: \(last)")
            throw error
        }
    }

    /// The expected owners, computed with ``HostShares``, the rule that all hosts follow.
    func expected(_ hosts: [String], app: String = "demo") -> [String: String] {
        let shares = HostShares(app: app, hosts: hosts.map { (name: $0, capacity: options.workers) })
        var owners = ["intake": shares.intakeOwner]
        for shard in 0..<64 {
            owners[shard < 10 ? "0\(shard)" : "\(shard)"] = shares.owner(ofShard: shard)
        }
        return owners.compactMapValues { $0 }
    }
}
