import EventLoop
import FarmPolicy
import StoreProtocol

/// Moves a shard to another host. Before the move, the present owner drains the shard.
struct ShardMove: Sendable {
    let shard: Int
    /// The new host, or nil when the farm chooses the host.
    let host: String?
    /// The apps, or nil for all apps.
    let apps: [String]?

    struct Outcome {
        var move: ShardMove
        /// The owner of the shard in each app.
        var owners: [(app: String, host: String?)]
        var isDryRun = false
        /// Whether the command did not wait for the end of the move.
        var isUnderWay = false

        /// Whether the new host owns the shard in every app. If the farm chooses the host, any owner is
        /// right.
        var hasArrived: Bool {
            owners.allSatisfy { $0.host != nil && (move.host == nil || $0.host == move.host) }
        }

        /// Whether the command has done what the operator asked for.
        var isDone: Bool { isDryRun || isUnderWay || hasArrived }

        var text: String {
            owners.map { owner in
                let place = "shard \(move.shard) of \(owner.app) is with \(owner.host ?? "no host")"
                if isDryRun { return place }
                guard let host = move.host else {
                    return place + " now; the farm chooses its owner"
                }
                return isUnderWay && owner.host != host ? place + " now, and moves to \(host)" : place
            }.joined(separator: "\n")
                + (isDryRun ? "\nwould go to \(move.host ?? "the host that the farm chooses")" : "")
        }

        var json: JSONValue {
            .object([
                "shard": .number(move.shard), "to": .text(move.host), "done": .bool(isDryRun || hasArrived),
                "owners": .array(
                    owners.map { .object(["app": .string($0.app), "host": .text($0.host)]) }),
            ])
        }
    }

    @Loop func carryOut(_ client: FarmClient, _ options: OperatorOptions) async throws -> Outcome {
        try await client.mustHave(shard: shard)
        if let host {
            try await OperatorClient.requireLive(host, among: OperatorClient.liveHosts(client))
            try await mustTakeShards(host, client)
        }
        for app in apps ?? [] { try await client.mustHave(app: app) }
        var names = apps ?? []
        if apps == nil { names = try await client.apps() }
        var outcome = Outcome(move: self, owners: try await owners(names, client), isDryRun: options.dryRun)
        if options.dryRun { return outcome }
        for app in names {
            let name = Pins.name(app: app, shard: shard)
            try await client.ask { farmRedis throws(RedisError) in try await farmRedis.desire(name, host) }
        }
        try await OperatorClient.record(
            ["shards", "move", "\(shard)", host ?? "auto"] + (apps?.flatMap { ["--app", $0] } ?? []), client)
        outcome.isUnderWay = !options.wait
        let limit = options.timeout?.duration ?? .seconds(40)
        let deadline = ContinuousClock.now + limit
        repeat {
            outcome.owners = try await owners(names, client)
            if outcome.isDone { break }
            // Redis sends no notification when a lease changes its owner, so the command polls.
            try? await Loop.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < deadline
        return outcome
    }

    /// - Throws: an error when the host is drained or stopping, because the shard would never arrive.
    @Loop private func mustTakeShards(_ host: String, _ client: FarmClient) async throws(CommandFailure) {
        let state = try await client.hosts().first { $0.host == host }?.state ?? ""
        guard ["drained", "stopping"].contains(state) else { return }
        throw .failed(
            "host \(host) is \(state) and takes no shards"
                + (state == "drained" ? "; pushfarm resume \(host) ends the drain" : ""))
    }

    @Loop private func owners(
        _ apps: [String], _ client: FarmClient
    ) async throws(CommandFailure) -> [(app: String, host: String?)] {
        var all: [(app: String, host: String?)] = []
        for app in apps { all.append((app, try await ShardOwners.read(app, from: client).hosts[shard])) }
        return all
    }
}
