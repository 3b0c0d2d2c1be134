import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks that a call with an outdated fencing token changes nothing.
@Suite struct FenceTests {
    /// Gives all leases to another owner, and expects that a call with the old fencing token fails with `error` and changes
    /// nothing.
    private func expectFenced<Step: Request>(
        _ error: StoreError?, _ prepare: (StoreFixture) throws -> Step
    ) throws where Step.Reply: Sendable {
        let fixture = try StoreFixture()
        let step = try prepare(fixture)
        _ = try fixture.perform(fixture.acquire("n2", predecessor: "n1"))
        let before = try RedisDump(fixture.redis)
        if let error {
            #expect(throws: error) { try fixture.perform(step) }
        } else {
            _ = try fixture.perform(step)
        }
        #expect(try RedisDump(fixture.redis).changes(since: before) == [])
    }

    @Test func `an outdated intake can neither take, split, refuse nor blame`() throws {
        let fenced = StoreError.fenced(lease: "intake")
        try expectFenced(fenced) { fixture in
            try fixture.take("a")
            try fixture.perform(PushJob(job: Array("b".utf8)))
            return Take(token: fixture.token, known: 0, maxJobs: 9, maxBytes: 99, maxJobBytes: 99)
        }
        try expectFenced(fenced) { fixture in
            try fixture.take("big")
            return fixture.firstPart()
        }
        try expectFenced(fenced) { fixture in
            try fixture.take("a")
            return Refuse(
                token: fixture.token, step: 1, job: nil, field: "x", position: 0, reason: "x", original: [])
        }
        try expectFenced(fenced) { fixture in
            try fixture.take("a")
            return RecordIntakeCrash(token: fixture.token, process: "p", isOnlyApp: true)
        }
    }

    @Test func `an outdated intake can neither take nor finish device inputs`() throws {
        let fenced = StoreError.fenced(lease: "intake")
        try expectFenced(fenced) { fixture in
            try fixture.perform(PushInputs(.devices, [Array("a".utf8)]))
            return TakeInputs(.devices, token: fixture.token, maxInputs: 9, maxBytes: 99, maxInputBytes: 99)
        }
        try expectFenced(fenced) { fixture in
            try fixture.takeDevices("a")
            return FinishInputs(.devices, token: fixture.token, step: 1, finished: 1)
        }
    }

    @Test func `an outdated intake can neither begin, extend nor end a campaign, nor mark devices as done`()
        throws
    {
        let fenced = StoreError.fenced(lease: "intake")
        try expectFenced(fenced) { fixture in
            try fixture.createCampaign(isDraft: false)
            return ChangeCampaign.begin("c", token: fixture.token, name: "n", fields: [])
        }
        try expectFenced(fenced) { fixture in
            try fixture.runCampaign()
            return fixture.campaignStep(1)
        }
        try expectFenced(fenced) { fixture in
            try fixture.runCampaign()
            return ChangeCampaign.end(
                "c", token: fixture.token, name: "n", as: .refused, reason: "", keep: 9)
        }
        try expectFenced(fenced) { fixture in
            try fixture.runCampaign()
            return MarkDone(token: fixture.token, campaign: "c", chunks: [(0, 0, [1])])
        }
    }

    @Test func `an outdated intake cannot count rewards`() throws {
        try expectFenced(StoreError.fenced(lease: "intake")) { fixture in
            try fixture.runCampaign()
            let reward = MarkRewards.Reward(ordinal: 1, field: "rewards:a", thousandths: 1000)
            return MarkRewards(token: fixture.token, campaign: "c", chunks: [(0, 0, [reward])])
        }
    }

    @Test func `an outdated owner can neither check out, put back, quarantine nor reclaim`() throws {
        let fenced = StoreError.fenced(lease: "01")
        try expectFenced(nil) { fixture in
            try fixture.split([("a", 2)])
            return Checkout(worker: "w1", credit: 9, maxBatches: 9, known: [], shards: [(1, fixture.token)])
        }
        try expectFenced(fenced) { fixture in
            let batch = try fixture.held([("a", 2)])
            return PutBack(token: fixture.token, worker: "w1", batches: [(batch.id, batch.delivery)])
        }
        try expectFenced(fenced) { fixture in fixture.quarantine(try fixture.held([("a", 2)])) }
        try expectFenced(nil) { fixture in
            _ = try fixture.held([("a", 2)])
            return fixture.reclaim(["w1"])
        }
    }

    @Test func `an outdated owner cannot report decisions or request credit`() throws {
        try expectFenced(nil) { fixture in
            let batch = try fixture.held([("a", 2)], credit: 1)
            return fixture.reportRequest(
                batch.id, 0..<1, wanted: 2, facts: false, entry: StoreFixture.delivered("a", 1))
        }
        try expectFenced(nil) { fixture in
            let batch = try fixture.held([("a", 2)], credit: 1)
            return Report(
                token: fixture.token, worker: "w1", batch: batch.id, delivery: 1, wanted: 2,
                hasOnlyFacts: true,
                runs: PositionRuns(), entry: [])
        }
    }

    @Test(arguments: [("w2", 1), ("w1", 2), ("w1", 0)])
    func `a worker without this delivery of the batch cannot report decisions or return it`(
        worker: String, delivery: Int
    ) throws {
        let fixture = try StoreFixture()
        let batch = try fixture.held([("a", 3)], credit: 1)
        let before = try RedisDump(fixture.redis)
        var report = fixture.reportRequest(
            batch.id, 0..<1, wanted: 3, facts: false, entry: StoreFixture.delivered("a", 1))
        (report.worker, report.delivery) = (worker, delivery)
        guard case .stale(let state) = try fixture.perform(report) else {
            Issue.record("not stale")
            return
        }
        #expect(state.staleness == .redelivered && state.open == 3 && state.granted == 1)
        report.runs = PositionRuns()
        (report.entry, report.hasOnlyFacts) = ([], true)
        _ = try fixture.perform(report)
        var quarantine = fixture.quarantine(batch)
        (quarantine.worker, quarantine.delivery) = (worker, delivery)
        #expect(try !fixture.perform(quarantine))
        let back = PutBack(token: fixture.token, worker: worker, batches: [(batch.id, delivery)])
        #expect(try fixture.perform(back) == 0)
        #expect(try RedisDump(fixture.redis).changes(since: before) == [])
    }

    @Test func `a coordinator without leases renews and releases nothing`() throws {
        for isAll in [false, true] {
            try expectFenced(nil) { fixture in
                try fixture.redis.run("HDEL", "{pushfarm:demo}:owners", "until:n1")
                return isAll
                    ? ReleaseLeases(nonce: "n1", tokens: nil) : fixture.release([.intake, .shard(1)])
            }
        }
        try expectFenced(nil) { _ in
            RenewLeases(nonce: "n1", host: "host", lifetime: .seconds(9), leases: [.intake, .shard(1)])
        }
    }

    @Test func `shards have separate fences`() throws {
        let fixture = try StoreFixture()
        let batch = try fixture.held([("a", 2)])
        try fixture.redis.run("HSET", "{pushfarm:demo}:owners", "01", "2:n2:x")
        let before = try RedisDump(fixture.redis)
        #expect(throws: StoreError.fenced(lease: "01")) { try fixture.perform(fixture.quarantine(batch)) }
        let reply = try fixture.perform(fixture.reclaim(["w1"]))
        #expect(reply.fenced == [1] && reply.putBack == 0)
        #expect(try fixture.checkout().fenced == [1])
        #expect(try RedisDump(fixture.redis).changes(since: before) == [])
    }
}
