import PushModel
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks the quarantine of jobs whose payload crashes workers and of batches that crash workers before any send, and how an
/// operator resumes them.
@Suite struct QuarantineTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func reclaim(_ worker: String, _ loss: WorkerExit = .crash(hadSent: true)) throws -> Reclaim.Reply
    {
        let reply = try fixture.perform(
            Reclaim(
                .gone([worker]), exit: loss, shards: (0..<StoreFixture.shards).map { ($0, fixture.token) }))
        #expect(try fixture.audit() == [])
        return reply
    }

    private func ask(_ batch: Checkout.Batch, _ worker: String) throws {
        _ = try fixture.perform(
            Report(
                token: fixture.token, worker: worker, batch: batch.id, delivery: batch.delivery,
                wanted: batch.map.count, hasOnlyFacts: true, runs: PositionRuns(), entry: []))
        #expect(try fixture.audit() == [])
    }

    /// Runs one worker after the other until no batch can be checked out. A worker crashes when it sends a push.
    /// Returns the number of crashes and the number of pushes that failed as poison.
    private func sendPoison() throws -> (crashes: Int, poisoned: Int) {
        var (crashes, poisoned) = (0, 0)
        while let batch = try fixture.checkout("w\(crashes)", most: 1).batches.first {
            if batch.suspicion?.sendsAlone == true { try ask(batch, "w\(crashes)") }
            poisoned += try reclaim("w\(crashes)").poisoned
            crashes += 1
            guard crashes < 50 else { break }
        }
        return (crashes, poisoned)
    }

    private func quarantine() throws {
        for step in 1...3 { try fixture.split(step: step, [("bad\(step)", 1)], shard: 3) }
        _ = try sendPoison()
        try fixture.split(step: 4, [("bad", 100)], shard: 0)
        let result = try sendPoison()
        #expect(result.crashes == 8 && result.poisoned == 2)
    }

    @Test func `a job of poison pushes costs eight crashes and two pushes before its quarantine`() throws {
        try quarantine()
        let jobRecord = try fixture.jobRecord("bad")
        #expect(jobRecord.pausedReason == "poison" && jobRecord.crashes == 5 && jobRecord.state == .open)
        #expect(jobRecord.queued == 98 && jobRecord.inFlight == 2)
        let event = try #require(try fixture.events().first { $0["type"] == "job.quarantined" })
        #expect(event["job"] == "bad" && event["reason"] == "poison" && event["crashes"] == "5")
        #expect(try fixture.perform(ReadDepths(shards: StoreFixture.shards)).paused == 1)
    }

    @Test func `other pushes of a batch with a quarantined job continue first`() throws {
        try quarantine()
        try fixture.split(step: 5, [("good", 4), ("bad5", 1)], shard: 1)
        try fixture.redis.run("HSET", "{pushfarm:demo}:paused_jobs", "bad5", "1")
        let batch = try #require(try fixture.checkout("w").batches.first)
        #expect(batch.map == Array("....p".utf8) && batch.granted == 5)
        #expect(try fixture.jobRecord("bad5").queued == 1 && fixture.jobRecord("bad5").inFlight == 0)
        #expect(try fixture.audit() == [])
        guard
            case .taken(let state) = try fixture.report(
                batch, 0..<4, entry: StoreFixture.delivered("good", 4), worker: "w")
        else { throw StoreError.unexpectedReply("not taken") }
        #expect(state.isDone)
        #expect(try fixture.audit() == [])
        #expect(try fixture.perform(ReadDepths(shards: StoreFixture.shards)).paused == 2)

        // Redis still accepts a final outcome of a quarantined push that a worker reports late.
        #expect(
            try fixture.report(batch, 4..<5, entry: StoreFixture.delivered("bad5", 1), worker: "w")
                == .taken(.init(open: 0, granted: 0, isDone: true, staleness: .redelivered)))
        #expect(try fixture.audit() == [])
        #expect(try fixture.perform(ReadDepths(shards: StoreFixture.shards)).paused == 1)
    }

    @Test func `a released job starts without crashes and other jobs stay quarantined`() throws {
        try quarantine()
        #expect(try fixture.checkout().batches.isEmpty)
        let other = try fixture.perform(ResumePaused(.job("another")))
        #expect(other == .init(batches: 0, next: nil, jobs: 0))
        #expect(try fixture.perform(ResumePaused(.job("bad"))) == .init(batches: 1, next: nil, jobs: 1))
        #expect(try fixture.perform(ResumePaused(.job("bad"))) == .init(batches: 0, next: nil, jobs: 0))
        #expect(try fixture.jobRecord("bad").pausedReason == nil && fixture.jobRecord("bad").crashes == 0)
        #expect(try fixture.audit() == [])
        let batch = try #require(try fixture.checkout().batches.first)
        #expect(batch.granted == 100 && batch.map.count { $0 == UInt8(ascii: ".") } == 98)
        #expect(batch.suspicion == nil)
        #expect(try fixture.redis.run("HEXISTS", "{pushfarm:demo}:admission", "pauses").integer == 0)
    }

    @Test func `a batch that was elsewhere during the release is opened by itself`() throws {
        try quarantine()
        try fixture.redis.run("HSET", "{pushfarm:demo}:paused_jobs", "late", "1")
        try fixture.split(step: 5, [("good", 2), ("late", 2)], shard: 1)
        let batch = try #require(try fixture.checkout("w").batches.first)
        #expect(batch.map == Array("..pp".utf8))
        #expect(try fixture.perform(ResumePaused(.job("late"))).jobs == 1)
        #expect(
            try fixture.report(batch, 0..<2, entry: StoreFixture.delivered("good", 2), worker: "w")
                == .taken(.init(open: 0, granted: 0, isDone: true)))
        #expect(try fixture.audit() == [])
        #expect(try fixture.checkout().batches.first?.map == Array("xx..".utf8))
    }

    @Test func `many quarantined batches are released in portions`() throws {
        for step in 1...5 { try fixture.split(step: step, [("j\(step)", 1)]) }
        try fixture.redis.run("HSET", "{pushfarm:demo}:admission", "pauses", "5")
        for step in 1...5 { try fixture.redis.run("HSET", "{pushfarm:demo}:paused_jobs", "j\(step)", "1") }
        #expect(try fixture.checkout().batches.isEmpty)
        #expect(try fixture.audit() == [])
        // The command checks the newest batches first.
        #expect(
            try fixture.perform(ResumePaused(.job("j4"), limit: 2)) == .init(batches: 1, next: 1, jobs: 1))
        #expect(
            try fixture.perform(ResumePaused(.job("j4"), start: 1, limit: 2))
                == .init(batches: 0, next: 3, jobs: 0))
        #expect(try fixture.perform(ResumePaused(limit: 2)) == .init(batches: 2, next: 0, jobs: 4))
        #expect(
            try fixture.perform(ResumePaused(start: 0, limit: 10)) == .init(batches: 2, next: nil, jobs: 0))
        #expect(try StoreFixture.jobs(fixture.checkout().batches) == ["j1", "j2", "j3", "j4", "j5"])
        #expect(try fixture.audit() == [])
    }

    @Test func `a batch that keeps killing workers before any send is quarantined`() throws {
        try fixture.split([("j1", 2), ("j2", 2)])
        try fixture.split(step: 2, [("j3", 4)], shard: 2)
        for crash in 1...5 {
            let batches = try fixture.checkout("w\(crash)").batches
            // The batch has crashed the first worker, so later workers get it without other batches.
            #expect(batches.count == (crash == 1 ? 2 : 1))
            if crash == 1 {
                try fixture.perform(
                    PutBack(token: fixture.token, worker: "w1", batches: [(batches[1].id, 1)]))
            }
            #expect(batches[0].granted == 4)
            // The worker crashes before it sends a push. So the test writes a state of the batch without granted pushes.
            try fixture.redis.run(
                "HSET", "{pushfarm:demo}:states", "\(batches[0].id)",
                "w\(crash)|\(crash)|0|\(unsent(crash - 1))|4|....")
            #expect(
                try reclaim("w\(crash)", .crash(hadSent: false)).quarantinedBatches == (crash == 5 ? 1 : 0))
        }
        #expect(try StoreFixture.jobs(fixture.checkout().batches) == ["j3"])
        #expect(try fixture.jobRecord("j1").queued == 2 && fixture.jobRecord("j1").crashes == 0)
        #expect(
            try fixture.perform(ResumePaused()).batches == 1 && fixture.perform(ResumePaused()).batches == 0)
        #expect(try fixture.checkout().batches.first?.granted == 4)
        #expect(try fixture.audit() == [])
    }

    private func unsent(_ crashes: Int) -> String { crashes == 0 ? "" : "0,0,0,0,0,0,0,\(crashes)" }

    @Test func `five crashes before any send quarantine the only job of the batch`() throws {
        try fixture.split([("j1", 4)])
        for crash in 1...5 {
            let batch = try #require(try fixture.checkout("w\(crash)").batches.first)
            try fixture.redis.run(
                "HSET", "{pushfarm:demo}:states", "\(batch.id)",
                "w\(crash)|\(crash)|0|\(unsent(crash - 1))|4|....")
            #expect(
                try reclaim("w\(crash)", .crash(hadSent: false)).quarantined == (crash == 5 ? ["j1"] : []))
        }
        #expect(try fixture.jobRecord("j1").pausedReason == "poison")
    }

    @Test func `a batch that a crashed worker held without sending is no suspect`() throws {
        try fixture.split([("j1", 4)])
        for crash in 1...6 {
            let batch = try #require(try fixture.checkout("w\(crash)").batches.first)
            try fixture.redis.run(
                "HSET", "{pushfarm:demo}:states", "\(batch.id)", "w\(crash)|\(crash)|0||4|....")
            #expect(try reclaim("w\(crash)", .crash(hadSent: true)).quarantinedBatches == 0)
        }
        #expect(try fixture.checkout().batches.first?.suspicion == nil)
    }
}
