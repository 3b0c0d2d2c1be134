import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// A call that comes from one who is no longer in charge changes nothing.
@Suite struct FenceTests {
    /// Another owner has everything, and the caller still has its old token.
    private func expectFenced<Step: Request>(
        _ error: StoreError?, _ prepare: (Desk) throws -> Step
    ) throws where Step.Reply: Sendable {
        let desk = try Desk()
        let step = try prepare(desk)
        _ = try desk.perform(desk.acquire("n2", predecessor: "n1"))
        let before = try RedisDump(desk.redis)
        if let error {
            #expect(throws: error) { try desk.perform(step) }
        } else {
            _ = try desk.perform(step)
        }
        #expect(try RedisDump(desk.redis).changes(since: before) == [])
    }

    @Test func `intake: take, split, refuse, blame`() throws {
        let fenced = StoreError.fenced(field: "intake")
        try expectFenced(fenced) { desk in
            try desk.take("a")
            try desk.perform(Submit(job: Array("b".utf8)))
            return Take(token: desk.token, known: 0, maxJobs: 9, maxBytes: 99, maxJobBytes: 99)
        }
        try expectFenced(fenced) { desk in
            try desk.take("big")
            return desk.firstPart()
        }
        try expectFenced(fenced) { desk in
            try desk.take("a")
            return Refuse(
                token: desk.token, step: 1, job: nil, field: "x", position: 0, reason: "x", original: [])
        }
        try expectFenced(fenced) { desk in
            try desk.take("a")
            return Blame(token: desk.token, process: "p", isAlone: true)
        }
    }

    @Test func `delivery: checkout, putback, park, reclaim`() throws {
        let fenced = StoreError.fenced(field: "01")
        try expectFenced(nil) { desk in
            try desk.split([("a", 2)])
            return Checkout(worker: "w1", credit: 9, maxBatches: 9, known: [], shards: [(1, desk.token)])
        }
        try expectFenced(fenced) { desk in
            let batch = try desk.held([("a", 2)])
            return PutBack(token: desk.token, worker: "w1", batches: [(batch.id, batch.delivery)])
        }
        try expectFenced(fenced) { desk in desk.park(try desk.held([("a", 2)])) }
        try expectFenced(nil) { desk in
            _ = try desk.held([("a", 2)])
            return desk.reclaim(["w1"])
        }
    }

    @Test func `a report of decisions, and one that asks for more credit`() throws {
        try expectFenced(nil) { desk in
            let batch = try desk.held([("a", 2)], credit: 1)
            return desk.reportRequest(batch.id, 0..<1, wanted: 2, facts: false, entry: Desk.delivered("a", 1))
        }
        try expectFenced(nil) { desk in
            let batch = try desk.held([("a", 2)], credit: 1)
            return Report(
                token: desk.token, worker: "w1", batch: batch.id, delivery: 1, wanted: 2, isFactsOnly: true,
                runs: PositionRuns(), entry: [])
        }
    }

    @Test(arguments: [("w2", 1), ("w1", 2), ("w1", 0)])
    func `who has not the batch, or not this delivery of it, neither reports decisions nor returns it`(
        worker: String, delivery: Int
    ) throws {
        let desk = try Desk()
        let batch = try desk.held([("a", 3)], credit: 1)
        let before = try RedisDump(desk.redis)
        var report = desk.reportRequest(
            batch.id, 0..<1, wanted: 3, facts: false, entry: Desk.delivered("a", 1))
        (report.worker, report.delivery) = (worker, delivery)
        guard case .stale(let state) = try desk.perform(report) else {
            Issue.record("not stale")
            return
        }
        #expect(state.staleness == .redelivered && state.open == 3 && state.granted == 1)
        report.runs = PositionRuns()
        (report.entry, report.isFactsOnly) = ([], true)
        _ = try desk.perform(report)
        var park = desk.park(batch)
        (park.worker, park.delivery) = (worker, delivery)
        #expect(try !desk.perform(park))
        let back = PutBack(token: desk.token, worker: worker, batches: [(batch.id, delivery)])
        #expect(try desk.perform(back) == 0)
        #expect(try RedisDump(desk.redis).changes(since: before) == [])
    }

    @Test func `leases: who owns nothing renews nothing and gives nothing back`() throws {
        for isAll in [false, true] {
            try expectFenced(nil) { desk in
                try desk.redis.run("HDEL", "{pushfarm:demo}:owners", "until:n1")
                return isAll ? ReleaseLeases(nonce: "n1", tokens: nil) : desk.release([.intake, .shard(1)])
            }
        }
        try expectFenced(nil) { _ in
            RenewLeases(nonce: "n1", host: "host", lease: .seconds(9), fields: [.intake, .shard(1)])
        }
    }

    @Test func `the fence of one shard is not that of another`() throws {
        let desk = try Desk()
        let batch = try desk.held([("a", 2)])
        try desk.redis.run("HSET", "{pushfarm:demo}:owners", "01", "2:n2:x")
        let before = try RedisDump(desk.redis)
        #expect(throws: StoreError.fenced(field: "01")) { try desk.perform(desk.park(batch)) }
        let reply = try desk.perform(desk.reclaim(["w1"]))
        #expect(reply.fenced == [1] && reply.putBack == 0)
        #expect(try desk.checkout().fenced == [1])
        #expect(try RedisDump(desk.redis).changes(since: before) == [])
    }
}
