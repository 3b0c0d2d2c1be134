import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

@Suite struct IntakeTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func take(known: Int, jobs: Int = 10, bytes: Int = 1000, limit: Int = 100) throws -> Take.Reply {
        try fixture.perform(
            Take(token: fixture.token, known: known, maxJobs: jobs, maxBytes: bytes, maxJobBytes: limit))
    }

    private func submit(_ jobs: String...) throws {
        for job in jobs { try fixture.perform(PushJob(job: Array(job.utf8))) }
    }

    @Test func `jobs with a lost reply are returned again`() throws {
        try submit("a", "b", "c")
        #expect(try take(known: 0, jobs: 2).jobs == [Array("a".utf8), Array("b".utf8)])
        #expect(try take(known: 0, jobs: 2).jobs == [Array("a".utf8), Array("b".utf8)])
        #expect(try take(known: 1, jobs: 2).jobs == [Array("b".utf8), Array("c".utf8)])
        #expect(try take(known: 3).jobs.isEmpty)
        #expect(throws: StoreError.takenJobsDiffer(3)) { try take(known: 4) }
    }

    @Test func `a reply is bounded by bytes but contains at least one job`() throws {
        try submit("aaaaaaaaaa", "bbbbbbbbbb", "cc")
        #expect(try take(known: 0, bytes: 5).jobs.count == 1)
        #expect(try take(known: 1, bytes: 11).jobs.count == 2)
    }

    @Test func `a job above the limit is never transferred`() throws {
        try submit("a", String(repeating: "x", count: 70_000), "b")
        let reply = try take(known: 0)
        #expect(reply.jobs == [Array("a".utf8), Array("b".utf8)])
        #expect(reply.refused == 1)
        let events = try fixture.events()
        #expect(events.last?["type"] == "job.refused")
        #expect(events.last?["field"] == "job")
        #expect(events.last?["reason"]?.contains("70000") == true)
        let refused = try fixture.redis.run("XRANGE", "{pushfarm:demo}:refused", "-", "+").array?.first
        #expect(refused?.array?.last?.array?.last?.bytes?.count == 65_536)
    }

    @Test func `a call is short for any number of too large jobs`() throws {
        for _ in 0..<70 { try submit(String(repeating: "x", count: 101)) }
        try submit("a")
        let first = try take(known: 0)
        #expect(first.jobs.isEmpty && first.refused == 64)
        let second = try take(known: 0)
        #expect(second.jobs == [Array("a".utf8)] && second.refused == 6)
    }

    @Test func `a call is short for any number of too large taken jobs and another call is due`() throws {
        for _ in 0..<70 {
            try fixture.redis.run("RPUSH", "{pushfarm:demo}:taken", String(repeating: "x", count: 101))
        }
        try submit("a")
        let first = try take(known: 0)
        #expect(first.jobs.isEmpty && first.refused == 64 && first.heldBack != nil)
        let second = try take(known: 0)
        #expect(second.jobs == [Array("a".utf8)] && second.refused == 6 && second.heldBack == nil)
    }

    @Test func `large and small jobs are taken in order within the bytes`() throws {
        let sizes = (0..<60).map { $0 % 7 == 3 ? 70_000 : 10 + $0 }
        for (number, size) in sizes.enumerated() {
            try submit("\(number)" + String(repeating: "x", count: size))
        }
        var taken: [[UInt8]] = []
        while taken.count < sizes.count {
            let jobs = try take(known: taken.count, jobs: 40, bytes: 150_000, limit: 80_000).jobs
            #expect(!jobs.isEmpty && jobs.dropLast().reduce(0) { $0 + $1.count } < 150_000)
            taken += jobs
        }
        #expect(taken.map(\.count) == sizes.enumerated().map { "\($0)".count + $1 })
        #expect(try fixture.redis.run("EXISTS", "pushfarm:demo").integer == 0)
    }

    @Test func `a refused job is removed once and its original stays`() throws {
        try submit("{bad", "good")
        _ = try take(known: 0)
        func refuse(step: Int) throws -> Refuse.Reply {
            try fixture.perform(
                Refuse(
                    token: fixture.token, step: step, job: nil, field: "payload", position: 3,
                    reason: "no object", original: Array("{bad".utf8)))
        }
        #expect(try refuse(step: 1) == .eventWritten)
        #expect(try refuse(step: 1) == .doneBefore)
        let reply = try take(known: 0)
        #expect(reply.step == 1 && reply.jobs == [Array("good".utf8)])
        #expect(try fixture.events().count == 1)
        #expect(throws: StoreError.outOfStep(1)) { try refuse(step: 5) }
    }

    @Test func `a step with another effect is not mistaken for this step`() throws {
        try submit("a", "b")
        _ = try take(known: 0)
        func refuse(step: Int) throws -> Refuse.Reply {
            try fixture.perform(
                Refuse(
                    token: fixture.token, step: step, job: "j1", field: "id", position: 0, reason: "x",
                    original: []))
        }
        #expect(try refuse(step: 1) == .eventWritten)
        #expect(throws: StoreError.outOfStep(1)) {
            try fixture.perform(fixture.splitRequest(step: 1, [("j1", 1)]))
        }
        try fixture.perform(fixture.splitRequest(step: 2, [("j2", 1)]))
        #expect(throws: StoreError.outOfStep(2)) { try refuse(step: 2) }
        #expect(try fixture.audit() == [])
    }

    @Test func `a repeated split has one effect`() throws {
        let jobs = [("j1", 3), ("j2", 2)]
        let reply = try fixture.split(jobs)
        #expect(reply == .done(woken: [1], nextDue: nil, isInboxEmpty: true))
        #expect(try fixture.perform(fixture.splitRequest(step: 1, jobs)) == .doneBefore)
        #expect(try fixture.audit() == [])
        let jobRecord = try fixture.jobRecord("j1")
        #expect(jobRecord.accepted == 3 && jobRecord.queued == 3 && jobRecord.state == .open)
        #expect(try fixture.perform(ReadDepths(shards: 4)).shards[1].high == 1)
        #expect(try fixture.perform(LatestJobs(count: 5)).sorted() == ["j1", "j2"])
        #expect(try fixture.events().map { $0["job"] } == ["j1", "j2"])
    }

    @Test func `an open or recent id is refused before any effect`() throws {
        try fixture.split([("j1", 3)])
        for jobs in [[("j0", 1), ("j1", 2)], [("j0", 1), ("j0", 2)]] {
            #expect(throws: StoreError.exists(job: jobs[1].0)) { try fixture.split(step: 2, jobs) }
        }
        #expect(try fixture.perform(LatestJobs(count: 5)) == ["j1"])
        #expect(try fixture.audit() == [])
        // Another job may have the id of a finished job if the record of the finished job is more than a day old.
        try fixture.redis.run("HSET", "{pushfarm:demo}:job:j2", "state", "finished", "created_at", "1000")
        try fixture.split(step: 2, [("j2", 2)])
        #expect(try fixture.jobRecord("j2").accepted == 2)
        #expect(try fixture.audit() == [])
    }

    @Test func `a job in chunks continues where it stopped`() throws {
        try submit("big")
        _ = try take(known: 0)
        func chunk(_ step: Int, _ head: IntakeHead?) -> Split {
            Split(
                token: fixture.token, step: step, dropped: head == nil ? 1 : 0, head: head,
                jobs: [Split.Job(id: "big", opens: step == 1, submitted: 6, accepted: 6)],
                batches: [
                    Split.NewBatch(shard: 0, lane: .high, tokens: 2, body: StoreFixture.body([("big", 2)]))
                ])
        }
        #expect(
            try fixture.perform(chunk(1, IntakeHead(job: "big", offset: 2)))
                == .done(woken: [0], nextDue: nil, isInboxEmpty: false))
        #expect(try fixture.audit() == [])
        let resumed = try take(known: 0)
        #expect(resumed.head == IntakeHead(job: "big", offset: 2) && resumed.step == 1)
        #expect(resumed.jobs == [Array("big".utf8)])
        #expect(
            try fixture.perform(chunk(2, IntakeHead(job: "big", offset: 4)))
                == .done(woken: [0], nextDue: nil, isInboxEmpty: false))
        #expect(try fixture.perform(chunk(2, IntakeHead(job: "big", offset: 4))) == .doneBefore)
        #expect(try fixture.perform(chunk(3, nil)) == .done(woken: [0], nextDue: nil, isInboxEmpty: true))
        #expect(try fixture.audit() == [])
        #expect(try take(known: 0).jobs.isEmpty)
    }

    @Test func `a job with only malformed tokens is finished at once`() throws {
        try submit("m")
        _ = try take(known: 0)
        var event = FarmEvent(.tokenMalformed)
        event.add("job", "m")
        event.add("index", "0")
        try fixture.perform(
            Split(
                token: fixture.token, step: 1, dropped: 1,
                jobs: [
                    Split.Job(id: "m", opens: true, submitted: 1, accepted: 0, malformed: 1, events: [event])
                ], batches: []))
        let jobRecord = try fixture.jobRecord("m")
        #expect(jobRecord.state == .finished && jobRecord.malformed == 1 && jobRecord.finishedAt != nil)
        #expect(
            try fixture.events().map { $0["type"] } == ["job.accepted", "token.malformed", "job.finished"])
        #expect(try fixture.audit() == [])
    }

    @Test func `a scheduled job is put into the delayed set`() throws {
        let far = Int64(4_000_000_000_000)
        guard case .done(let woken, let due, _) = try fixture.split([("j1", 3)], due: far) else {
            Issue.record("split before")
            return
        }
        #expect(woken.isEmpty && due.map { $0 > .seconds(1_000_000) } == true)
        #expect(try fixture.jobRecord("j1").delayed == 3)
        #expect(try fixture.audit() == [])
        #expect(try fixture.perform(PromoteDue()).woken.isEmpty)
        try fixture.makeDue()
        #expect(try fixture.perform(PromoteDue()) == PromoteDue.Reply(nextDue: nil, woken: [1]))
        #expect(try fixture.perform(PromoteDue()) == PromoteDue.Reply(nextDue: nil, woken: []))
        #expect(try fixture.jobRecord("j1").delayed == 0)
        #expect(try fixture.audit() == [])
    }

    @Test func `finished job records are bounded and open ones always stay`() throws {
        var retention = Retention()
        retention.jobRecords = 3
        for number in 1...8 {
            try submit("job")
            _ = try take(known: 0)
            var request = fixture.splitRequest(step: number, [("j\(number)", 1)])
            request.retention = retention
            try fixture.perform(request)
            let batch = try #require(try fixture.checkout(known: nil).batches.first)
            // The test leaves the first job open.
            if number == 1 { continue }
            _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("j\(number)", 1))
            let record = try #require(try fixture.results().first)
            try fixture.perform(Settle([StoreFixture.settlement(record, "j\(number)", delivered: 1)]))
        }
        let kept = try fixture.perform(LatestJobs(count: 10))
        #expect(kept.count <= 4 && kept.contains("j1") && kept.contains("j8"))
        #expect(try fixture.jobRecord("j1").state == .open)
    }
}
