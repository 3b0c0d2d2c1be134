import EventLoop
import Foundation
import PushModel
import RedisProtocol
import StoreProtocol
import Testing

@testable import Coordinator
@testable import Intake
@testable import JobSplitting

/// The intake, the results consumer and the promoter with their own Redis server.
@Suite struct DataPathTests {
    private func tokens(_ range: Range<Int>) -> [String] { range.map { JobText.token($0) } }

    @Test func `jobs get their outcomes and the accounting is correct all the way`() async throws {
        try await IntakeFixture.run { farm in
            var failing = JobText(id: "failing", tokens: tokens(0..<100))
            failing.fields = #""max_attempts":2,"lane":"bulk","#
            var silent = JobText(id: "silent", tokens: tokens(0..<10))
            silent.fields = #""receipts":"none","delivery":"at-most-once","#
            var reported = JobText(
                id: "told", tokens: tokens(0..<10), payloads: (0..<10).map { "{\"n\":\($0)}" })
            reported.fields = #""receipts":"all","#
            try await farm.submit(
                JobText(id: "plain", tokens: tokens(0..<600) + tokens(0..<5) + ["zz", "abc"]), failing,
                JobText(id: "bad", tokens: [], fields: #""ttl":"never","#), silent, reported,
                JobText(tokens: tokens(0..<1)), JobText(id: "plain", tokens: tokens(0..<1)),
                JobText(id: "large", tokens: ["\(String(repeating: "a", count: 2 << 20))"]))
            farm.intake.start()
            farm.promoter.start()
            try await farm.until("the inbox is split") {
                let depths = try await farm.perform(ReadDepths(shards: IntakeFixture.shards))
                return depths.inbox == 0 && depths.taken == 0
            }
            try await farm.audit()
            try await farm.until("the bell has rung") { farm.readyShards == Set(0..<IntakeFixture.shards) }
            var jobRecord = try await farm.jobRecord("plain")
            #expect(jobRecord.submitted == 607 && jobRecord.accepted == 600)
            #expect(jobRecord.malformed == 2 && jobRecord.duplicates == 5 && jobRecord.queued == 600)

            farm.consumer.start()
            try await farm.until("all jobs are finished") {
                try await farm.work { job, token, attempt in
                    switch (job, token[31] % 10) {
                    case ("failing", _): .fail(.server)
                    case ("silent", 0...2): .fail(.unknownOutcome)
                    case ("plain", 0): .refuse(reason: "Unregistered", isInvalidToken: true)
                    case ("plain", 1): .refuse(reason: "BadTopic", isInvalidToken: false)
                    case ("plain", 2) where attempt == 0: .fail(.unknownOutcome)
                    default: .accept
                    }
                }
                try await farm.audit()
                for job in ["plain", "failing", "silent", "told"] where try await !farm.isFinished(job) {
                    return false
                }
                return true
            }

            jobRecord = try await farm.jobRecord("plain")
            let dead = (0..<600).count { $0 % 256 % 10 == 0 }
            let wrong = (0..<600).count { $0 % 256 % 10 == 1 }
            let doubtful = (0..<600).count { $0 % 256 % 10 == 2 }
            #expect(jobRecord.reasons == ["Unregistered": dead, "BadTopic": wrong])
            #expect(jobRecord.delivered == 600 - dead - wrong && jobRecord.maybeDuplicated == doubtful)
            #expect(jobRecord.inFlight == 0 && jobRecord.delayed == 0 && jobRecord.queued == 0)
            jobRecord = try await farm.jobRecord("failing")
            #expect(jobRecord.failed == 100 && jobRecord.reasons == ["exhausted": 100])
            jobRecord = try await farm.jobRecord("silent")
            #expect(
                jobRecord.delivered == 7 && jobRecord.reasons == ["unknown": 3]
                    && jobRecord.maybeDuplicated == 0)
            #expect(farm.sent.values.max() == 2)
            try await farm.checkEvents(dead: dead, wrong: wrong)
        }
    }

    @Test func `a scheduled job is delayed and promoted at its time`() async throws {
        try await IntakeFixture.run { farm in
            farm.intake.start()
            farm.promoter.start()
            farm.consumer.start()
            let time = Int64(Date().timeIntervalSince1970) + 2
            try await farm.submit(
                JobText(id: "later", tokens: tokens(0..<50), fields: "\"deliver_at\":\(time),"))
            try await farm.until("it waits") {
                try await farm.fixture.store.jobRecord(of: "later")?.delayed == 50
            }
            #expect(try await farm.work() == 0)
            try await farm.audit()
            try await farm.until("it is finished") {
                try await farm.work()
                return try await farm.isFinished("later")
            }
            #expect(Date().timeIntervalSince1970 >= Double(time))
            #expect(!farm.readyShards.isEmpty)
            try await farm.audit()
        }
    }

    @Test func `a new owner continues a job where the old one stopped`() async throws {
        let narrow = StepLimits(
            tokens: 16, jobs: 4, batches: 16, events: 8, bytes: 1 << 20, positions: 16,
            tokensBeforeEarlyEnd: 32)
        try await IntakeFixture.run(limits: narrow) { farm in
            var job = JobText(tokens: tokens(0..<4000))
            job.fields = #""ttl":3600,"#
            try await farm.submit(job, JobText(id: "next", tokens: tokens(0..<3)))
            farm.intake.start()
            var heads: [String] = []
            for _ in 0..<5 {
                let last = try await farm.head().offset
                try await farm.until("it is split in part") { try await farm.head().offset > last }
                try await farm.replaceIntake(limits: narrow)
                try await farm.audit()
                if let name = try await farm.head().job { heads.append(name) }
            }
            #expect(Set(heads).count == 1 && heads.count == 5)
            try await farm.until("all is split") {
                try await farm.fixture.store.jobRecord(of: "next") != nil
            }
            try await farm.audit()
            farm.consumer.start()
            let name = try #require(heads.first)
            try await farm.until("it is finished") {
                try await farm.work()
                return try await farm.isFinished(name)
            }
            #expect(try await farm.jobRecord(name).delivered == 4000)
            #expect(farm.sent.count == 4003 && farm.sent.values.allSatisfy { $0 == 1 })
        }
    }

    @Test(arguments: ["a", " a ", "\u{301}a", "e\u{301}", "日本", "EXISTS x", "%s|%d"])
    func `a repeated id is a duplicate whatever its form`(id: String) async throws {
        try await IntakeFixture.run { farm in
            farm.intake.start()
            try await farm.submit(
                JobText(id: "before", tokens: tokens(0..<3)), JobText(id: id, tokens: tokens(0..<3)),
                JobText(id: id, tokens: tokens(0..<5)), JobText(id: "after", tokens: tokens(0..<3)))
            try await farm.until("all are split") {
                try await farm.fixture.store.jobRecord(of: "after") != nil
            }
            #expect(try await farm.jobRecord(id).accepted == 3)
            let duplicates = try await farm.events().filter { $0["type"] == "job.duplicate" }
            #expect(duplicates.map { $0["job"] } == [id])
            #expect(try await farm.stream(farm.fixture.keys.refused).isEmpty)
            farm.consumer.start()
            try await farm.until("it is finished") {
                try await farm.work()
                return try await farm.isFinished(id)
            }
            try await farm.audit()
        }
    }

    @Test func `an owner that is fenced out drops its work`() async throws {
        try await IntakeFixture.run { farm in
            let stale = farm.intakeToken
            try await farm.takeLeases()
            let fresh = farm.intakeToken
            farm.intake.setFenceToken(stale)
            try await farm.submit(JobText(id: "a", tokens: tokens(0..<3)))
            farm.intake.start()
            try await farm.until("it is told") {
                farm.notices.contains(.fenced(app: "demo", token: stale.bytes))
            }
            #expect(try await farm.fixture.store.jobRecord(of: "a") == nil)
            farm.intake.setFenceToken(fresh)
            try await farm.until("it is split") { try await farm.fixture.store.jobRecord(of: "a") != nil }
            try await farm.audit()
        }
    }

    @Test func `accepted jobs finish when Redis has no memory left`() async throws {
        try await IntakeFixture.run { farm in
            try await farm.submit(
                JobText(id: "a", tokens: tokens(0..<30)), JobText(id: "b", tokens: tokens(0..<3)))
            try await farm.run("CONFIG", "SET", "maxmemory", "1")
            farm.intake.start()
            farm.consumer.start()
            try await farm.until("they are finished") {
                try await farm.work()
                let (isFirst, isSecond) = (try await farm.isFinished("a"), try await farm.isFinished("b"))
                return isFirst && isSecond
            }
            await #expect(throws: RedisError.self) { try await farm.run("RPUSH", "pushfarm:demo", "more") }
            try await farm.audit()
        }
    }

    @Test func `jobs of an app at its limit stay in the inbox until there is room`() async throws {
        try await IntakeFixture.run { farm in
            let limits = AppLimits(backlog: 30, inbox: 100, inboxBytes: 1 << 20, jobBytes: 1 << 20)
            _ = try await farm.perform(
                UpdateAdmission(
                    memory: .relieved, limitsIntake: false, retryAfter: .seconds(1), limits: limits,
                    jobRecordSeconds: 600))
            try await farm.submit(JobText(id: "a", tokens: tokens(0..<30)))
            farm.intake.start()
            farm.consumer.start()
            try await farm.until("it is split") { try await farm.fixture.store.jobRecord(of: "a") != nil }
            try await farm.submit(JobText(id: "b", tokens: tokens(0..<3)))
            // In this time the intake checks several times whether there is room for job "b".
            try await Loop.sleep(for: .milliseconds(350))
            #expect(try await farm.fixture.store.jobRecord(of: "b") == nil)
            try await farm.until("they are finished") {
                try await farm.work()
                return try await farm.isFinished("b")
            }
            try await farm.audit()
        }
    }

    @Test func `an unreadable entry stays and the others are settled`() async throws {
        try await IntakeFixture.run { farm in
            farm.intake.start()
            try await farm.submit(JobText(id: "a", tokens: tokens(0..<30)))
            try await farm.until("it is split") { try await farm.fixture.store.jobRecord(of: "a") != nil }
            let results = String(decoding: farm.fixture.keys.results, as: UTF8.self)
            try await farm.run("XADD", results, "*", "r", "nonsense")
            try await farm.work()
            farm.consumer.start()
            try await farm.until("it is finished") { try await farm.isFinished("a") }
            #expect(try await farm.perform(ReadDepths(shards: IntakeFixture.shards)).results == 1)
            let events = try await farm.events().filter { $0["type"] == "data.unreadable" }
            #expect(events.count == 1)
        }
    }

    @Test(arguments: ["here", "elsewhere"])
    func `entries that a consumer left unsettled are settled by its successor`(consumer: String) async throws
    {
        try await IntakeFixture.run { farm in
            farm.intake.start()
            try await farm.submit(JobText(id: "a", tokens: tokens(0..<30)))
            try await farm.until("it is split") { try await farm.fixture.store.jobRecord(of: "a") != nil }
            try await farm.work()
            try await farm.perform(CreateResultsGroup())
            #expect(try await !farm.perform(ReadResults(consumer: consumer, .new)).isEmpty)
            farm.consumer.start()
            try await farm.until("it is finished") { try await farm.isFinished("a") }
            #expect(try await farm.jobRecord("a").delivered == 30)
            try await farm.audit()
        }
    }
}

extension IntakeFixture {
    fileprivate func head() async throws -> (job: String?, offset: Int) {
        let reply = try await run("HMGET", "{pushfarm:demo}:intake", "head", "offset").array ?? []
        return (reply.first?.text, reply.last?.text.flatMap { Int($0) } ?? 0)
    }

    fileprivate func checkEvents(dead: Int, wrong: Int) async throws {
        let events = try await events()
        func count(_ type: String, _ job: String) -> Int {
            events.count { $0["type"] == type && $0["job"] == job }
        }
        #expect(count("job.accepted", "plain") == 1 && count("job.finished", "plain") == 1)
        #expect(count("token.malformed", "plain") == 2)
        #expect(count("push.failed", "plain") == dead + wrong && count("token.invalid", "plain") == dead)
        #expect(count("push.failed", "failing") == 100 && count("push.failed", "silent") == 0)
        #expect(count("push.delivered", "told") == 10 && count("push.delivered", "plain") == 0)
        let exhausted = events.first { $0["reason"] == "exhausted" }
        #expect(exhausted?["cause"] == "ServiceUnavailable" && exhausted?["status"] == "503")
        let refused = try await stream(fixture.keys.refused)
        #expect(Set(refused.compactMap { $0["field"] }) == ["ttl", "job"])
        #expect(refused.count == 2 && events.count { $0["type"] == "job.duplicate" } == 1)
        var suppressed = 0
        for shard in 0..<IntakeFixture.shards {
            suppressed += try await fixture.store.perform(ReadSuppressed(shard: shard)).count
        }
        #expect(suppressed == dead)
    }
}
