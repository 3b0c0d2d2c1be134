import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

@Suite struct ReclaimTests {
    let desk: Desk
    init() throws { desk = try Desk() }

    private func reclaim(_ workers: Reclaim.Workers, crash: Bool = false) throws -> Reclaim.Reply {
        try desk.perform(
            Reclaim(workers, loss: crash ? .crash(hadSent: true) : .innocent, shards: [(1, desk.token)]))
    }

    @Test func `open positions within the credit are counted as suspects, once`() throws {
        try desk.split([("j1", 4), ("j2", 4)])
        let batch = try #require(try desk.checkout(credit: 6).batches.first)
        _ = try desk.report(batch, 1..<3, entry: Desk.delivered("j1", 2))
        let reply = try reclaim(.gone(["w1"]))
        #expect(reply.putBack == 1 && reply.suspects == 4 && reply.rung == [1] && reply.parked == 0)
        #expect(try reclaim(.gone(["w1"])).putBack == 0)
        #expect(try desk.jobRecord("j1").maybeDuplicated == 2 && desk.jobRecord("j2").maybeDuplicated == 2)
        #expect(try desk.jobRecord("j1").inFlight == 2 && desk.jobRecord("j2").inFlight == 0)
        #expect(try desk.audit() == [])
    }

    @Test func `only workers that are gone lose their batches`() throws {
        for step in 1...3 { try desk.split(step: step, [("j\(step)", 1)]) }
        for worker in ["w1", "w2", "w3"] { _ = try desk.checkout(worker, most: 1) }
        #expect(try reclaim(.gone(["w2"])).putBack == 1)
        #expect(try reclaim(.allBut(["w1"])).putBack == 1)
        #expect(try Desk.jobs(desk.checkout("w4").batches) == ["j2", "j3"])
        #expect(try desk.audit() == [])
    }

    @Test func `a fenced shard is left alone`() throws {
        try desk.split([("j1", 1)])
        _ = try desk.checkout()
        let old = FenceToken(Array("0:n0:host".utf8))
        let reply = try desk.perform(Reclaim(.allBut([]), shards: [(1, old)]))
        #expect(reply.fenced == [1] && reply.putBack == 0)
    }

    @Test func `suspects of at-most-once segments are closed as unknown`() throws {
        try desk.split([("j1", 5)], delivery: .atMostOnce)
        let batch = try #require(try desk.checkout(credit: 4).batches.first)
        _ = try desk.report(batch, 1..<2, entry: Desk.delivered("j1", 1))
        let reply = try reclaim(.gone(["w1"]), crash: true)
        #expect(reply.unknown == 3 && reply.suspects == 0 && reply.putBack == 1)
        #expect(try desk.audit() == [])
        let records = try desk.results()
        guard case .closed(.unknown, let body, let positions) = records[1].content else {
            Issue.record("\(records)")
            return
        }
        #expect(body == batch.body && positions == [0..<1, 2..<4])
        var settlement = Settlement(entry: records[1].id)
        var job = Settlement.Job(id: "j1")
        (job.failed, job.reasons) = (3, ["unknown": 3])
        settlement.jobs = [job]
        try desk.perform(Settle([settlement]))
        #expect(try desk.jobRecord("j1").reasons == ["unknown": 3])
        #expect(try desk.jobRecord("j1").maybeDuplicated == 0)
        #expect(try desk.audit() == [])
    }
}
