import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks that split refuses a call before its first effect.
@Suite struct SplitTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func job(_ id: String, opens: Bool = true) -> Split.Job {
        Split.Job(id: id, opens: opens, submitted: 1, accepted: 1)
    }

    private func split(
        step: Int = 1, dropped: Int = 1, head: IntakeHead? = nil, _ jobs: [Split.Job]
    ) -> Split {
        Split(
            token: fixture.token, step: step, dropped: dropped, head: head, jobs: jobs,
            batches: jobs.map {
                .init(shard: 0, lane: .high, tokens: 1, body: StoreFixture.body([($0.id, 1)]))
            })
    }

    private func expectRefused(_ error: StoreError, _ request: Split) throws {
        let before = try RedisDump(fixture.redis)
        #expect(throws: error) { try fixture.perform(request) }
        #expect(try RedisDump(fixture.redis).changes(since: before) == [])
    }

    @Test func `refuses the same id twice in one step`() throws {
        try fixture.take("a", "b")
        try expectRefused(.exists(job: "x"), split(dropped: 2, [job("x"), job("x")]))
    }

    @Test(arguments: [
        ["state", "open", "created_at", "1"], ["state", "finished", "created_at", "4000000000000"],
        ["state", "open", "created_at", "4000000000000"],
    ])
    func `refuses an open or recent id`(fields: [String]) throws {
        try fixture.redis.run("HSET", "{pushfarm:demo}:job:x", fields[0], fields[1], fields[2], fields[3])
        try fixture.take("a", "b")
        try expectRefused(.exists(job: "x"), split(dropped: 2, [job("w"), job("x")]))
    }

    @Test func `refuses a step out of order`() throws {
        try fixture.take("a", "b", "c")
        try fixture.perform(split([job("x")]))
        for step in [0, 1, 3] { try expectRefused(.outOfStep(1), split(step: step, [job("y")])) }
        #expect(try fixture.perform(split([job("x")])) == .doneBefore)
    }

    /// The situation after Redis has returned to an earlier state: the jobs are in the inbox again, and the intake must take
    /// them again before it can split them.
    @Test func `refuses jobs that are not taken`() throws {
        try expectRefused(.takenJobsDiffer(0), split([job("x")]))
        try expectRefused(
            .takenJobsDiffer(0), split(dropped: 0, head: IntakeHead(job: "x", offset: 1), [job("x")]))
        try fixture.take("a")
        try expectRefused(.takenJobsDiffer(1), split(dropped: 2, [job("x")]))
        try expectRefused(
            .takenJobsDiffer(1), split(head: IntakeHead(job: "y", offset: 1), [job("x"), job("y")]))
        _ = try fixture.perform(split(dropped: 0, head: IntakeHead(job: "x", offset: 1), [job("x")]))
        _ = try fixture.perform(split(step: 2, [job("x", opens: false)]))
        #expect(try fixture.redis.run("EXISTS", "{pushfarm:demo}:taken").integer == 0)
    }

    @Test func `refuses a refusal of a job that is not taken`() throws {
        func refusal(step: Int) -> Refuse {
            Refuse(
                token: fixture.token, step: step, job: "x", field: "f", position: 0, reason: "r", original: []
            )
        }
        let before = try RedisDump(fixture.redis)
        #expect(throws: StoreError.takenJobsDiffer(0)) { try fixture.perform(refusal(step: 1)) }
        #expect(try RedisDump(fixture.redis).changes(since: before) == [])
        try fixture.take("a")
        #expect(try fixture.perform(refusal(step: 1)) == .eventWritten)
        #expect(try fixture.perform(refusal(step: 1)) == .doneBefore)
        try fixture.take("b")
        #expect(throws: StoreError.outOfStep(1)) { try fixture.perform(refusal(step: 3)) }
    }

    @Test func `refuses a call that knows more jobs than were taken`() throws {
        try fixture.take("a", "b")
        func take(_ known: Int) -> Take {
            Take(token: fixture.token, known: known, maxJobs: 9, maxBytes: 99, maxJobBytes: 99)
        }
        #expect(throws: StoreError.takenJobsDiffer(2)) { try fixture.perform(take(3)) }
        #expect(try fixture.perform(take(2)).jobs == [])
    }

    @Test func `the reply tells when the first delayed batch is due`() throws {
        try fixture.take("a")
        let seconds = try #require(try fixture.redis.run("TIME").array?[0].text.flatMap { Int64($0) })
        let (soon, later) = (seconds * 1000 + 500_000, seconds * 1000 + 900_000)
        let reply = try fixture.perform(
            Split(
                token: fixture.token, step: 1, dropped: 1, jobs: [job("a")],
                batches: [later, soon, later + 1].map {
                    .init(shard: 0, lane: .high, due: $0, tokens: 1, body: StoreFixture.body([("a", 1)]))
                }))
        guard case .done(let woken, let nextDue?, _) = reply else {
            Issue.record("\(reply)")
            return
        }
        #expect(woken == [] && nextDue <= .milliseconds(500_000) && nextDue > .milliseconds(300_000))
    }

    @Test func `a job that came alone is split only while no other job is taken`() throws {
        func attempt(_ taken: String...) throws -> StoreError? {
            let fixture = try StoreFixture()
            for job in taken { try fixture.redis.run("RPUSH", "{pushfarm:demo}:taken", job) }
            do {
                _ = try fixture.perform(ScriptCase.split(fixture, movedJob: "a"))
                return nil
            } catch let error as StoreError {
                #expect(
                    try fixture.audit() == []
                        && fixture.redis.run("LLEN", "{pushfarm:demo}:taken").integer == Int64(taken.count))
                return error
            }
        }
        #expect(try attempt("a") == nil)
        for taken in [["a", "b"], ["b", "a"], ["a", "a"]] {
            #expect(try attempt(taken[0], taken[1]) == .takenJobsDiffer(2))
        }
        #expect(try attempt("b") == .takenJobsDiffer(1))
        #expect(try attempt() == .takenJobsDiffer(0))
    }

    @Test func `due batches are moved in bounded portions in order`() throws {
        for step in 1...3 { try fixture.split(step: step, [("j\(step)", step)], due: 4_000_000_000_000) }
        try fixture.makeDue()
        _ = try fixture.perform(PromoteDue(limit: 2))
        #expect(try fixture.redis.run("LLEN", "{pushfarm:demo}:ready:01").integer == 2)
        #expect(try fixture.jobRecord("j3").delayed == 3 && fixture.jobRecord("j2").delayed == 0)
        _ = try fixture.perform(PromoteDue(limit: 2))
        #expect(try StoreFixture.jobs(try fixture.checkout().batches) == ["j1", "j2", "j3"])
        #expect(try fixture.audit() == [])
    }
}
