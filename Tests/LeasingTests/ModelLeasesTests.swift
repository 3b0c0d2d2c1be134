import FarmHarness
import RandomTesting
import RedisProtocol
import StoreProtocol
import Testing

@testable import StoreProtocol

/// Compares the lease model of the simulation with the script on a real Redis: equal calls must give equal replies.
@Suite struct ModelLeasesTests {
    private let keys = Keys(app: "demo")
    private static let nonces = ["n1", "n1.1", "n2", "n2.7", "n3"]
    private static let leases = [LeaseID.intake, .shard(0), .shard(1), .shard(12)]

    @Test func `the model agrees with lease.lua`() async throws {
        let folder = try TestFolder()
        let redis = try await RedisServer(in: folder.path)
        let client = try redis.client()
        let hash = try #require(try client.run(Script.lease.loadCommand).bytes)
        var random = SplitMix(seed: 7)
        for _ in 0..<30 {
            var model = ModelLeases()
            var tokens: [LeaseID: FenceToken] = [:]
            try client.run("DEL", "{pushfarm:demo}:owners")
            for _ in 0..<60 {
                let nonce = Self.nonces.randomElement(using: &random) ?? ""
                let some = Self.leases.filter { _ in random.chance(2) }
                switch random.next() % 8 {
                case 0...2:
                    let call = AcquireLeases(
                        nonce: nonce, host: "h", lifetime: .seconds(600),
                        predecessor: random.chance(3) ? Self.nonces.randomElement(using: &random) ?? "" : "",
                        leases: some, others: Self.leases.filter { !some.contains($0) })
                    let real = try AcquireLeases.result(client.run(call.command(keys, hash: hash))).states
                    let model = model.acquire(call, at: 0).states
                    try #require(real.map(Self.known) == model.map(Self.known), "\(call)")
                    for (lease, state) in zip(call.leases + call.others, real) {
                        if case .ours(let token) = state { tokens[lease] = token }
                    }
                case 3...4:
                    let call = RenewLeases(nonce: nonce, host: "h", lifetime: .seconds(600), leases: some)
                    let real = try RenewLeases.result(client.run(call.command(keys, hash: hash)))
                    try #require(real == model.renew(call, at: 0), "\(call)")
                case 5:
                    // Some of these fencing tokens are not valid any more.
                    let late = tokens.filter { some.contains($0.key) }
                    let call = ReleaseLeases(nonce: nonce, tokens: late)
                    let real = try ReleaseLeases.result(client.run(call.command(keys, hash: hash)))
                    try #require(real == model.release(call).count, "\(call)")
                case 6:
                    let call = ReleaseLeases(nonce: nonce, tokens: nil)
                    let real = try ReleaseLeases.result(client.run(call.command(keys, hash: hash)))
                    try #require(real == model.release(call).count, "\(call)")
                default:
                    // Ends the lease of this nonce.
                    try client.run("HDEL", "{pushfarm:demo}:owners", "until:" + nonce)
                    model.endLease(of: nonce)
                }
            }
        }
        try await redis.kill()
    }

    /// The reply without the remaining time of a lease. This time may differ between the model and Redis.
    private static func known(_ state: AcquireLeases.LeaseState) -> AcquireLeases.LeaseState {
        if case .taken = state { .taken(for: .zero) } else { state }
    }
}
