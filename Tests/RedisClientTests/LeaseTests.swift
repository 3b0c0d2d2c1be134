import Testing

@testable import RedisClient
@testable import StoreProtocol

@Suite struct LeaseTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    @Test func `a repeated acquire returns the same fencing token`() throws {
        let again = try fixture.perform(fixture.acquire("n1"))
        #expect(again.states == Array(repeating: .ours(fixture.token), count: 5))
    }

    @Test func `a second coordinator waits until the lease ends`() throws {
        let states = try fixture.perform(fixture.acquire("n2")).states
        for state in states {
            guard case .taken(let left) = state else {
                Issue.record("\(state)")
                continue
            }
            #expect(left > .seconds(590) && left <= .seconds(600))
        }
        try fixture.redis.run("HSET", "{pushfarm:demo}:owners", "until:n1", "1")
        let token = FenceToken(Array("2:n2:host".utf8))
        #expect(
            try fixture.perform(fixture.acquire("n2")).states == Array(repeating: .ours(token), count: 5))
        #expect(throws: StoreError.fenced(lease: "intake")) {
            try fixture.perform(Take(token: fixture.token, known: 0, maxJobs: 1, maxBytes: 1, maxJobBytes: 1))
        }
    }

    @Test func `leases of a predecessor that is known to have exited are taken at once`() throws {
        let token = FenceToken(Array("2:n2:host".utf8))
        let states = try fixture.perform(fixture.acquire("n2", predecessor: "n1")).states
        #expect(states == Array(repeating: .ours(token), count: 5))
        #expect(token.epoch == 2 && token.nonce == "n2" && token.host == "host")
        // The takeover deletes the lease end of the killed coordinator. So lease ends do not accumulate in Redis.
        #expect(try Set(fixture.perform(ReadOwners()).leaseEnds.keys) == ["n2"])
    }

    @Test func `a renewal reports lost leases`() throws {
        _ = try fixture.perform(
            AcquireLeases(
                nonce: "n2", host: "h2", lifetime: .seconds(600), predecessor: "n1", leases: [.shard(1)]))
        let renew = RenewLeases(
            nonce: "n1", host: "host", lifetime: .seconds(600), leases: [.intake, .shard(0), .shard(1)])
        #expect(try fixture.perform(renew) == [true, true, false])
        #expect(try fixture.perform(renew) == [true, true, false])
        let owners = try fixture.perform(ReadOwners())
        #expect(owners.leases[.shard(1)]?.host == "h2" && owners.leases[.intake]?.nonce == "n1")
        #expect(owners.leases.count == 5 && Set(owners.leaseEnds.keys) == ["n1", "n2"])
    }

    @Test func `a released lease is free at once and gets a new epoch`() throws {
        #expect(try fixture.perform(fixture.release([.shard(2), .intake])) == 2)
        #expect(try fixture.perform(fixture.release([.shard(2), .intake])) == 0)
        let states = try fixture.perform(
            AcquireLeases(nonce: "n2", host: "host", lifetime: .seconds(1), leases: [.shard(2), .shard(3)])
        ).states
        #expect(states[0] == .ours(FenceToken(Array("2:n2:host".utf8))))
        guard case .taken = states[1] else {
            Issue.record("shard 3 was taken")
            return
        }
        #expect(try fixture.perform(ReleaseLeases(nonce: "n1", tokens: nil)) == 3)
        #expect(try fixture.perform(ReadOwners()).leases.count == 1)
    }

    private func claim(
        _ nonce: String, predecessor: String = "", wanted: [LeaseID] = [], _ others: [LeaseID]
    ) throws -> [AcquireLeases.LeaseState] {
        try fixture.perform(
            AcquireLeases(
                nonce: nonce, host: "h2", lifetime: .seconds(60), predecessor: predecessor, leases: wanted,
                others: others)
        ).states
    }

    @Test func `a read of leases takes none`() throws {
        #expect(try fixture.perform(fixture.release([.shard(2), .intake])) == 2)
        for _ in 0..<2 {
            let states = try claim("n2", [.intake, .shard(1), .shard(2), .shard(99)])
            #expect(states[0] == .free && states[2] == .free && states[3] == .free)
            guard case .taken = states[1] else {
                Issue.record("\(states[1])")
                return
            }
        }
        #expect(try fixture.perform(ReadOwners()).leaseEnds["n2"] == nil)
        let token = FenceToken(Array("2:n2:h2".utf8))
        #expect(try claim("n2", wanted: [.shard(2)], [.intake]) == [.ours(token), .free])
        // The reply is `ours` for a lease that the requesting coordinator already owns, even if the request only reads the
        // lease.
        #expect(try claim("n2", [.shard(2)]) == [.ours(token)])
    }

    @Test func `a successor takes all leases of its predecessor`() throws {
        let token = FenceToken(Array("2:n2:h2".utf8))
        #expect(
            try claim("n2", predecessor: "n1", wanted: [.shard(0)], [.shard(1)]) == [
                .ours(token), .ours(token),
            ])
        guard case .taken = try claim("n3", predecessor: "n", [.shard(0)])[0] else {
            Issue.record("n is not n2, only how it begins")
            return
        }
        // A request may name the predecessor by the part of its nonce before the dot. So the predecessor "p" includes the
        // nonce "p.1", whose lease goes to "p.2".
        try fixture.redis.run(
            "HSET", "{pushfarm:demo}:owners", "03", "5:p.1:host", "until:p.1", "99999999999999")
        #expect(
            try claim("p.2", predecessor: "p", [.shard(3)]) == [.ours(FenceToken(Array("6:p.2:h2".utf8)))])
    }

    @Test func `a lease lasts for the requested time and the reply contains it`() throws {
        let fixture = try StoreFixture()
        let time = try #require(
            try fixture.redis.run("TIME").array?.compactMap { $0.text.flatMap { Int64($0) } })
        let now = time[0] * 1000 + time[1] / 1000
        let ends = try fixture.perform(fixture.acquire("n1")).leaseEnds
        #expect((now + 600_000...now + 630_000).contains(ends))
        #expect(try fixture.redis.run("HGET", "{pushfarm:demo}:owners", "until:n1").text == "\(ends)")
    }

    /// The Redis clock was set back, so the end of a lease looks far away.
    /// An owner that has stopped must not keep its shards until the clock reaches this end.
    @Test func `an end beyond the longest lease is ignored and a living owner loses nothing`()
        throws
    {
        let fixture = try StoreFixture()
        try fixture.redis.run("HSET", "{pushfarm:demo}:owners", "until:n1", "4000000000000")
        var short = fixture.acquire("n2")
        short.lifetime = .milliseconds(1)
        guard case .taken(let left) = try fixture.perform(short).states[1] else {
            Issue.record("not taken")
            return
        }
        #expect(left <= .milliseconds(1))
        _ = try fixture.perform(
            RenewLeases(nonce: "n1", host: "host", lifetime: .seconds(600), leases: [.shard(0)]))
        short.lifetime = .seconds(600)
        let states = try fixture.perform(short).states
        #expect(!states.isEmpty)
        #expect(states.allSatisfy { if case .taken(let left) = $0 { left > .seconds(500) } else { false } })
    }
}
