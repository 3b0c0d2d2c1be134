import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks the behaviour when Redis has no memory left.
@Suite struct MemoryTests {
    @Test func `producers are refused and every accepted job is taken and finished`() throws {
        let fixture = try StoreFixture()
        try fixture.split(step: 1, [("j1", 4)], shard: 0)
        try fixture.split(step: 2, [("j2", 4)], shard: 1)
        let later = Int64(4_000_000_000_000)
        try fixture.split(step: 3, [("j3", 2)], shard: 2, due: later)
        try fixture.perform(PushJob(job: Array("job".utf8)))
        _ = try fixture.redis.run(ScriptFolder.functionCommand())
        try fixture.redis.run("CONFIG", "SET", "maxmemory", "1")
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
        #expect(isRefused { try fixture.perform(PushJob(job: Array("more".utf8))) })
        #expect(isRefused { _ = try fixture.perform(SubmitJob(job: Array("more".utf8), id: "")) })

        #expect(try fixture.perform(fixture.acquire("n1")).states.count == 5)
        let batches = try fixture.checkout().batches
        #expect(batches.count == 2)
        _ = try fixture.report(batches[0], 0..<4, entry: StoreFixture.delivered("j1", 4))
        let back = PutBack(token: fixture.token, worker: "w1", batches: [(batches[1].id, 1)])
        #expect(try fixture.perform(back) == 1)
        let again = try #require(try fixture.checkout("w2", known: nil).batches.first)
        #expect(
            try fixture.perform(Reclaim(.gone(["w2"]), shards: [(1, fixture.token)])).putBack == 1)
        let third = try #require(try fixture.checkout("w1", known: nil).batches.first)
        #expect(third.id == again.id)
        _ = try fixture.report(third, 0..<4, entry: StoreFixture.delivered("j2", 4))
        let records = try fixture.results()
        var retry = StoreFixture.settlement(records[0], "j1", delivered: 3)
        retry.jobs[0].delayed = 1
        retry.retries = [
            .init(
                shard: 0, lane: .high, delay: .zero, tokens: 1,
                body: StoreFixture.body([("j1", 1)], attempt: 1))
        ]
        let settle = Settle([retry, StoreFixture.settlement(records[1], "j2", delivered: 4)])
        #expect(try fixture.perform(settle) == .init(settledCount: 2, finishedJobs: 1))
        #expect(try fixture.perform(PromoteDue()).woken == [0])
        #expect(try fixture.perform(ClaimResults(consumer: "g2", idleFor: .zero)).records.isEmpty)
        #expect(try fixture.perform(PauseApp(reason: "x")) && fixture.perform(ResumeApp()) == .resumed)
        #expect(try fixture.audit() == [])
        let swap = try fixture.redis.run("GET", "nothing")
        #expect(swap.isNull)

        // While Redis is full, a coordinator can start, because its consumer group already exists. The intake can also take
        // and split jobs that were accepted earlier.
        try fixture.perform(CreateResultsGroup())
        let taken = try fixture.perform(
            Take(token: fixture.token, known: 0, maxJobs: 9, maxBytes: 1000, maxJobBytes: 1000))
        #expect(taken.jobs == [Array("job".utf8)] && taken.heldBack == nil)
        try fixture.perform(fixture.splitRequest(step: 4, [("j4", 1)]))
        #expect(try fixture.audit() == [])
    }
}
