import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

@Suite struct ReclaimTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func reclaim(_ workers: Reclaim.Workers, crash: Bool = false) throws -> Reclaim.Reply {
        try fixture.perform(
            Reclaim(workers, exit: crash ? .crash(hadSent: true) : .regular, shards: [(1, fixture.token)]))
    }

    @Test func `open positions within the credit are counted as suspects once`() throws {
        try fixture.split([("j1", 4), ("j2", 4)])
        let batch = try #require(try fixture.checkout(credit: 6).batches.first)
        _ = try fixture.report(batch, 1..<3, entry: StoreFixture.delivered("j1", 2))
        let reply = try reclaim(.gone(["w1"]))
        #expect(
            reply.putBack == 1 && reply.suspects == 4 && reply.woken == [1] && reply.quarantinedBatches == 0)
        #expect(try reclaim(.gone(["w1"])).putBack == 0)
        #expect(
            try fixture.jobRecord("j1").maybeDuplicated == 2 && fixture.jobRecord("j2").maybeDuplicated == 2)
        #expect(try fixture.jobRecord("j1").inFlight == 2 && fixture.jobRecord("j2").inFlight == 0)
        #expect(try fixture.audit() == [])
    }

    @Test func `only exited workers lose their batches`() throws {
        for step in 1...3 { try fixture.split(step: step, [("j\(step)", 1)]) }
        for worker in ["w1", "w2", "w3"] { _ = try fixture.checkout(worker, most: 1) }
        #expect(try reclaim(.gone(["w2"])).putBack == 1)
        #expect(try reclaim(.allBut(["w1"])).putBack == 1)
        #expect(try StoreFixture.jobs(fixture.checkout("w4").batches) == ["j2", "j3"])
        #expect(try fixture.audit() == [])
    }

    @Test func `a fenced shard is not changed`() throws {
        try fixture.split([("j1", 1)])
        _ = try fixture.checkout()
        let old = FenceToken(Array("0:n0:host".utf8))
        let reply = try fixture.perform(Reclaim(.allBut([]), shards: [(1, old)]))
        #expect(reply.fenced == [1] && reply.putBack == 0)
    }

    @Test func `suspects of at-most-once job parts are closed as unknown`() throws {
        try fixture.split([("j1", 5)], delivery: .atMostOnce)
        let batch = try #require(try fixture.checkout(credit: 4).batches.first)
        _ = try fixture.report(batch, 1..<2, entry: StoreFixture.delivered("j1", 1))
        let reply = try reclaim(.gone(["w1"]), crash: true)
        #expect(reply.unknown == 3 && reply.suspects == 0 && reply.putBack == 1)
        #expect(try fixture.audit() == [])
        let records = try fixture.results()
        guard case .closed(.unknown, let body, let positions) = records[1].content else {
            Issue.record("\(records)")
            return
        }
        #expect(body == batch.body && positions == [0..<1, 2..<4])
        var settlement = Settlement(entry: records[1].id)
        var job = Settlement.Job(id: "j1")
        (job.failed, job.reasons) = (3, ["unknown": 3])
        settlement.jobs = [job]
        try fixture.perform(Settle([settlement]))
        #expect(try fixture.jobRecord("j1").reasons == ["unknown": 3])
        #expect(try fixture.jobRecord("j1").maybeDuplicated == 0)
        #expect(try fixture.audit() == [])
    }
}
