import EventLoop
import FarmPolicy
import StoreProtocol

/// A shard goes to another host, by draining.
struct ShardMove: Sendable {
    let shard: Int
    /// Nil: the host that the farm chooses.
    let host: String?
    /// Nil: all.
    let apps: [String]?

    struct Outcome {
        var move: ShardMove
        /// By app: who has it.
        var owners: [(app: String, host: String?)]
        var isDryRun = false
        /// The command did not wait for it to arrive.
        var isUnderWay = false

        /// It is with whom it is meant for.
        var hasArrived: Bool {
            owners.allSatisfy { $0.host != nil && (move.host == nil || $0.host == move.host) }
        }

        /// What was asked for is done.
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
            try await OperatorClient.mustLive(host, among: OperatorClient.living(client))
            try await mustTakeShards(host, client)
        }
        for app in apps ?? [] { try await client.mustHave(app: app) }
        var names = apps ?? []
        if apps == nil { names = try await client.apps() }
        var outcome = Outcome(move: self, owners: try await owners(names, client), isDryRun: options.dryRun)
        if options.dryRun { return outcome }
        for app in names {
            let name = Pins.name(app: app, shard: shard)
            try await client.ask { registry throws(RedisError) in try await registry.desire(name, host) }
        }
        try await OperatorClient.record(
            ["shards", "move", "\(shard)", host ?? "auto"] + (apps?.flatMap { ["--app", $0] } ?? []), client)
        outcome.isUnderWay = !options.wait
        let limit = options.timeout?.duration ?? .seconds(40)
        let deadline = ContinuousClock.now + limit
        repeat {
            outcome.owners = try await owners(names, client)
            if outcome.isDone { break }
            // Redis says nothing when a lease changes hands.
            try? await Loop.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < deadline
        return outcome
    }

    /// - Throws: when the host gives everything away, and would wait for nothing.
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
