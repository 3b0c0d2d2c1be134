import EventLoop
import FarmPolicy
import StoreProtocol

/// The owners of the shards of an app.
struct ShardOwners: Sendable {
    let app: String
    /// The owner by shard, or nil for a shard without an owner.
    let hosts: [String?]
    let intake: String?
    let pins: [Int: String]

    @Loop static func read(_ app: String, from client: FarmClient) async throws(CommandFailure) -> ShardOwners
    {
        let shards = try await client.fixedShards()
        let owners = try await client.call(ReadOwners(), app)
        let desired = try await client.ask { farmRedis throws(RedisError) in try await farmRedis.desired() }
        let now = try await client.clock()
        func owner(_ lease: LeaseID) -> String? {
            guard let token = owners.leases[lease],
                .milliseconds(owners.leaseEnds[token.nonce] ?? 0) > now
            else { return nil }
            return token.host
        }
        return ShardOwners(
            app: app, hosts: (0..<shards).map { owner(.shard($0)) }, intake: owner(.intake),
            pins: Pins(desired).of(app))
    }

    var json: JSONValue {
        .object([
            "app": .string(app), "intake": .text(intake),
            "shards": .array(
                hosts.enumerated().map { number, host in
                    .object([
                        "shard": .number(number), "host": .text(host), "pinned": .text(pins[number]),
                    ])
                }),
        ])
    }

    func text(_ style: TextStyle) -> String {
        var table = Table(["APP": .left, "HOST": .left, "SHARDS": .right, "INTAKE": .left, "NUMBERS": .left])
        for host in Set(hosts.compactMap { $0 } + [intake].compactMap { $0 }).sorted() {
            let its = hosts.indices.filter { hosts[$0] == host }
            table.add(
                .init(app), .init(host), .init("\(its.count)"), .init(intake == host ? "yes" : ""),
                .init(Self.text(its)))
        }
        let free = hosts.indices.filter { hosts[$0] == nil }
        if !free.isEmpty {
            table.add(
                .init(app), .init("no host", .yellow), .init("\(free.count)"), .init(""),
                .init(Self.text(free)))
        }
        let pinned = pins.sorted { $0.key < $1.key }.map { "\($0.key) to \($0.value)" }
        return table.text(style)
            + (pinned.isEmpty ? "" : "pinned: \(pinned.joined(separator: ", "))\n")
    }

    /// Shard numbers with ranges: `0-3 7 12-15`.
    private static func text(_ shards: [Int]) -> String {
        Figures.ranges(RangeSet(shards.map { $0..<$0 + 1 }))
    }
}
