import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// What holds when Redis has no memory left.
@Suite struct MemoryTests {
    @Test func `producers are refused, and everything accepted is taken in and drained`() throws {
        let desk = try Desk()
        try desk.split(step: 1, [("j1", 4)], shard: 0)
        try desk.split(step: 2, [("j2", 4)], shard: 1)
        let later = Int64(4_000_000_000_000)
        try desk.split(step: 3, [("j3", 2)], shard: 2, due: later)
        try desk.perform(Submit(job: Array("job".utf8)))
        _ = try desk.redis.run(ScriptFolder.functionCommand())
        try desk.redis.run("CONFIG", "SET", "maxmemory", "1")
        func isRefused(_ body: () throws -> Void) -> Bool {
            do {
                try body()
                return false
            } catch let error as StoreError {
                guard case .redis(.waitAndRepeat(let error)) = error else { return false }
                return error.code == "OOM"
            } catch {
                return false
            }
        }
        #expect(isRefused { try desk.perform(Submit(job: Array("more".utf8))) })
        #expect(isRefused { _ = try desk.perform(Offer(job: Array("more".utf8), id: "")) })

        #expect(try desk.perform(desk.acquire("n1")).answers.count == 5)
        let batches = try desk.checkout().batches
        #expect(batches.count == 2)
        _ = try desk.report(batches[0], 0..<4, entry: Desk.delivered("j1", 4))
        let back = PutBack(token: desk.token, worker: "w1", batches: [(batches[1].id, 1)])
        #expect(try desk.perform(back) == 1)
        let again = try #require(try desk.checkout("w2", known: nil).batches.first)
        #expect(
            try desk.perform(Reclaim(.gone(["w2"]), shards: [(1, desk.token)])).putBack == 1)
        let third = try #require(try desk.checkout("w1", known: nil).batches.first)
        #expect(third.id == again.id)
        _ = try desk.report(third, 0..<4, entry: Desk.delivered("j2", 4))
        let records = try desk.results()
        var retry = Desk.settlement(records[0], "j1", delivered: 3)
        retry.jobs[0].waiting = 1
        retry.retries = [
            .init(shard: 0, lane: .high, delay: .zero, tokens: 1, body: Desk.body([("j1", 1)], attempt: 1))
        ]
        let settle = Settle([retry, Desk.settlement(records[1], "j2", delivered: 4)])
        #expect(try desk.perform(settle) == .init(booked: 2, finishedJobs: 1))
        #expect(try desk.perform(Promote()).rung == [0])
        #expect(try desk.perform(ClaimResults(gatherer: "g2", idleFor: .zero)).records.isEmpty)
        #expect(try desk.perform(Pause(reason: "x")) && desk.perform(Resume()) == .resumed)
        #expect(try desk.audit() == [])
        let swap = try desk.redis.run("GET", "nothing")
        #expect(swap.isNull)

        // A coordinator that starts now finds its group, and the job that was accepted before comes to its end, too.
        try desk.perform(CreateResultsGroup())
        let taken = try desk.perform(
            Take(token: desk.token, known: 0, maxJobs: 9, maxBytes: 1000, maxJobBytes: 1000))
        #expect(taken.jobs == [Array("job".utf8)] && taken.heldBack == nil)
        try desk.perform(desk.splitRequest(step: 4, [("j4", 1)]))
        #expect(try desk.audit() == [])
    }
}
