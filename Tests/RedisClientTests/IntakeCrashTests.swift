import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks jobs that crash the process that parses them.
@Suite struct IntakeCrashTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func submit(_ jobs: String...) throws {
        for job in jobs { try fixture.perform(PushJob(job: Array(job.utf8))) }
    }

    private func take(known: Int = 0) throws -> Take.Reply {
        try fixture.perform(
            Take(token: fixture.token, known: known, maxJobs: 10, maxBytes: 1000, maxJobBytes: 100_000))
    }

    @discardableResult
    private func recordCrash(_ process: String, isOnlyApp: Bool = true, limit: Int = 3) throws
        -> RecordIntakeCrash.Reply
    {
        try fixture.perform(
            RecordIntakeCrash(token: fixture.token, process: process, isOnlyApp: isOnlyApp, limit: limit))
    }

    private func text(_ reply: Take.Reply) -> [String] {
        reply.jobs.map { String(decoding: $0, as: UTF8.self) }
    }

    private func refused() throws -> [[String: String]] {
        try (fixture.redis.run("XRANGE", "{pushfarm:demo}:refused", "-", "+").array ?? []).map { entry in
            let words = (entry.array?.last?.array ?? []).compactMap(\.text)
            return Dictionary(
                uniqueKeysWithValues: stride(from: 0, to: words.count - 1, by: 2).map {
                    (words[$0], words[$0 + 1])
                })
        }
    }

    @Test func `after a crash the held jobs go one by one until all are done`() throws {
        try submit("a", "b", "c", "d")
        _ = try fixture.perform(
            Take(token: fixture.token, known: 0, maxJobs: 3, maxBytes: 1000, maxJobBytes: 1000))
        #expect(try recordCrash("p1") == .init(suspects: 3, ends: 0, isRefused: false))
        for (step, job) in ["a", "b", "c"].enumerated() {
            let reply = try take()
            #expect(text(reply) == [job] && reply.suspects == 3 - step)
            #expect(try take(known: 1).jobs.isEmpty)
            try fixture.perform(fixture.splitRequest(step: step + 1, [(job, 1)]))
        }
        try submit("e")
        #expect(text(try take()) == ["d", "e"])
        #expect(try take().suspects == 0)
        #expect(try fixture.audit() == [])
    }

    @Test func `the third crash with the same job refuses only that job`() throws {
        try submit("a", "poison", "c")
        _ = try take()
        #expect(try recordCrash("p1") == .init(suspects: 3, ends: 0, isRefused: false))
        _ = try take()
        try fixture.perform(fixture.splitRequest(step: 1, [("a", 1)]))
        #expect(text(try take()) == ["poison"])
        #expect(try recordCrash("p2") == .init(suspects: 2, ends: 2, isRefused: false))
        #expect(text(try take()) == ["poison"])
        #expect(try recordCrash("p3") == .init(suspects: 1, ends: 3, isRefused: true))
        #expect(try recordCrash("p3") == .init(suspects: 1, ends: 3, isRefused: true), "its reply was lost")
        let next = try take()
        #expect(text(next) == ["c"] && next.step == 2)
        try fixture.perform(fixture.splitRequest(step: 3, [("c", 1)]))
        let refused = try refused()
        #expect(refused.map { $0["reason"] } == ["poison"] && refused.first?["original"] == "poison")
        #expect(
            try fixture.events().filter { $0["type"] == "job.refused" }.map { $0["reason"] } == ["poison"])
        #expect(try take().suspects == 0)
        #expect(try fixture.audit() == [])
    }

    @Test func `more kills from outside are needed to refuse a job`() throws {
        try submit("a", "b")
        _ = try take()
        for number in 1...5 { #expect(try !recordCrash("p\(number)", limit: 6).isRefused, "kill \(number)") }
        #expect(try refused().isEmpty)
        #expect(try recordCrash("p6", limit: 6) == .init(suspects: 1, ends: 6, isRefused: true))
        #expect(text(try take()) == ["b"])
    }

    @Test func `crashes with different jobs or other busy apps refuse no job`() throws {
        try submit("a", "b", "c")
        _ = try take()
        try recordCrash("p1")
        for (step, job) in ["a", "b"].enumerated() {
            #expect(try recordCrash("p2\(step)").ends == 2)
            #expect(
                try recordCrash("p3\(step)", isOnlyApp: false)
                    == .init(suspects: 3 - step, ends: 0, isRefused: false))
            _ = try take()
            try fixture.perform(fixture.splitRequest(step: step + 1, [(job, 1)]))
        }
        #expect(try recordCrash("p4").ends == 2)
        #expect(try recordCrash("p4").ends == 2, "it is told again")
        #expect(text(try take()) == ["c"])
        #expect(try refused().isEmpty)
    }

    @Test func `a crash without held jobs changes nothing`() throws {
        #expect(try recordCrash("p1") == .init(suspects: 0, ends: 0, isRefused: false))
        #expect(try recordCrash("p2") == .init(suspects: 0, ends: 0, isRefused: false))
        try submit("a", "b")
        #expect(text(try take()) == ["a", "b"])
    }

    @Test func `the rest of a partly split job fails and the job record adds up`() throws {
        try submit("big", "next")
        _ = try take()
        let batch = Split.NewBatch(shard: 0, lane: .high, tokens: 2, body: StoreFixture.body([("big", 2)]))
        try fixture.perform(
            Split(
                token: fixture.token, step: 1, dropped: 0, head: IntakeHead(job: "big", offset: 2),
                jobs: [Split.Job(id: "big", opens: true, submitted: 7, accepted: 6, malformed: 1)],
                batches: [batch]))
        for process in 1...3 { try recordCrash("p\(process)") }
        #expect(try fixture.audit() == [])
        var jobRecord = try fixture.jobRecord("big")
        #expect(jobRecord.failed == 4 && jobRecord.reasons == ["poison": 4] && jobRecord.queued == 2)
        #expect(jobRecord.state == .open)
        #expect(try refused().first?["job"] == "big")
        let cut = try #require(try fixture.events().first { $0["type"] == "job.pushes_failed" })
        #expect(cut["job"] == "big" && cut["failed"] == "4" && cut["reason"] == "poison")
        #expect(try !fixture.events().contains { $0["type"] == "job.refused" })
        #expect(text(try take()) == ["next"])

        let held = try #require(try fixture.checkout().batches.first)
        _ = try fixture.report(held, 0..<2, entry: StoreFixture.delivered("big", 2))
        let record = try #require(try fixture.results().first)
        try fixture.perform(Settle([StoreFixture.settlement(record, "big", delivered: 2)]))
        jobRecord = try fixture.jobRecord("big")
        #expect(jobRecord.state == .finished && jobRecord.delivered == 2 && jobRecord.failed == 4)
        #expect(try fixture.audit() == [])
    }

    @Test func `a cut job with delivered pushes is finished by the cut`() throws {
        try submit("big")
        _ = try take()
        let batch = Split.NewBatch(shard: 0, lane: .high, tokens: 2, body: StoreFixture.body([("big", 2)]))
        try fixture.perform(
            Split(
                token: fixture.token, step: 1, dropped: 0, head: IntakeHead(job: "big", offset: 2),
                jobs: [Split.Job(id: "big", opens: true, submitted: 6, accepted: 6)], batches: [batch]))
        let held = try #require(try fixture.checkout().batches.first)
        _ = try fixture.report(held, 0..<2, entry: StoreFixture.delivered("big", 2))
        let record = try #require(try fixture.results().first)
        try fixture.perform(Settle([StoreFixture.settlement(record, "big", delivered: 2)]))
        #expect(try fixture.jobRecord("big").state == .open)
        // The intake refuses a job that it can no longer parse, although the job was accepted before.
        // The job's pushes fail as lost.
        try fixture.perform(
            Refuse(
                token: fixture.token, step: 2, job: nil, field: "tokens", position: 0, reason: "changed",
                original: Array("big".utf8)))
        let jobRecord = try fixture.jobRecord("big")
        #expect(jobRecord.state == .finished && jobRecord.reasons == ["lost": 4])
        let finished = try #require(try fixture.events().first { $0["type"] == "job.finished" })
        #expect(finished["delivered"] == "2" && finished["failed"] == "4" && finished["accepted"] == "6")
        #expect(try fixture.audit() == [])
        #expect(try take().head == nil)
    }

    @Test func `only the owner of the intake may blame a job`() throws {
        try submit("a")
        _ = try take()
        #expect(throws: StoreError.fenced(lease: "intake")) {
            try fixture.perform(
                RecordIntakeCrash(token: FenceToken(Array("9:n9:x".utf8)), process: "p", isOnlyApp: true))
        }
        #expect(try take().suspects == 0)
    }

    @Test func `a job that needs too much memory is refused without memory`() throws {
        try submit("a")
        _ = try take()
        for process in 1...2 { try recordCrash("p\(process)") }
        try fixture.redis.run("CONFIG", "SET", "maxmemory", "1")
        #expect(try recordCrash("p3").isRefused)
    }
}
