import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

@Suite struct SettleTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    /// Makes two jobs of three pushes, and reports all pushes as delivered in two results entries. Returns the entries.
    private func reported() throws -> [ResultsStreamEntry] {
        try fixture.split([("j1", 3), ("j2", 3)])
        let batch = try #require(try fixture.checkout().batches.first)
        _ = try fixture.report(batch, 0..<3, entry: StoreFixture.delivered("j1", 3))
        _ = try fixture.report(batch, 3..<6, entry: StoreFixture.delivered("j2", 3))
        return try fixture.results()
    }

    @Test func `an entry is settled once, alone or among others`() throws {
        let records = try reported()
        let first = StoreFixture.settlement(records[0], "j1", delivered: 3)
        let second = StoreFixture.settlement(records[1], "j2", delivered: 3)
        #expect(try fixture.perform(Settle([first])) == .init(settledCount: 1, finishedJobs: 1))
        #expect(try fixture.audit() == [])
        #expect(
            try fixture.perform(Settle([first, second, second])) == .init(settledCount: 1, finishedJobs: 1))
        #expect(try fixture.perform(Settle([first, second])) == .init(settledCount: 0, finishedJobs: 0))
        for job in ["j1", "j2"] {
            let jobRecord = try fixture.jobRecord(job)
            #expect(jobRecord.delivered == 3 && jobRecord.state == .finished && jobRecord.inFlight == 0)
            #expect(jobRecord.finishedAt != nil)
        }
        #expect(
            try fixture.events().filter { $0["type"] == "job.finished" }.map { $0["delivered"] } == [
                "3", "3",
            ])
        let lifetime = try fixture.redis.run("TTL", "{pushfarm:demo}:job:j1").integer ?? 0
        #expect((259_000...259_200).contains(lifetime))
        #expect(try fixture.perform(ReadDepths(shards: StoreFixture.shards)).results == 0)
        #expect(try fixture.perform(ReadResults(consumer: "g1", .pending(after: nil))).isEmpty)
        #expect(try fixture.audit() == [])
    }

    @Test func `a retry is delayed, keeps its id, and keeps the job open`() throws {
        let records = try reported()
        var settlement = Settlement(entry: records[0].id)
        var job = Settlement.Job(id: "j1")
        (job.delivered, job.failed, job.expired, job.delayed, job.maybeDuplicated) = (0, 1, 1, 1, 1)
        job.reasons = ["BadDeviceToken": 1]
        settlement.jobs = [job]
        settlement.retries = [
            .init(
                shard: 1, lane: .high, delay: .seconds(100), tokens: 1,
                body: StoreFixture.body([("j1", 1)], attempt: 1))
        ]
        settlement.invalidTokens = [StoreFixture.dead([0xab, 1], time: 5)]
        (settlement.responses, settlement.scopes) = (1, [StoreFixture.scope])
        settlement.events = [
            FarmEvent(.pushFailed, job: "j1", token: [0xab, 1], reason: "BadDeviceToken", status: 400)
        ]
        #expect(try fixture.perform(Settle([settlement])) == .init(settledCount: 1, finishedJobs: 0))
        #expect(try fixture.perform(Settle([settlement])) == .init(settledCount: 0, finishedJobs: 0))
        #expect(try fixture.audit() == [])
        let jobRecord = try fixture.jobRecord("j1")
        #expect(
            jobRecord.failed == 1 && jobRecord.expired == 1 && jobRecord.delayed == 1
                && jobRecord.inFlight == 0)
        #expect(jobRecord.maybeDuplicated == 1 && jobRecord.reasons == ["BadDeviceToken": 1])
        let events = try fixture.events().suffix(2)
        #expect(events.first?["token"] == "ab01" && events.first?["status"] == "400")
        #expect(events.last?["type"] == "token.invalid" && events.last?["timestamp"] == "5000")
        #expect(try fixture.suppressed() == [StoreFixture.dead([0xab, 1], time: 5).record])
        #expect(try fixture.perform(ReadScopes()) == [StoreFixture.scope.number: StoreFixture.scope])
        #expect(try fixture.perform(PromoteDue()).woken.isEmpty)
        let id = "01.h.r\(records[0].id).1"
        try fixture.makeDue()
        #expect(try fixture.perform(PromoteDue()).woken == [1])
        let batch = try #require(try fixture.checkout().batches.first)
        #expect(batch.id.description == id && batch.delivery == 1)
        _ = try fixture.report(batch, 0..<1, entry: StoreFixture.delivered("j1", 1))
        try fixture.perform(Settle([StoreFixture.settlement(try fixture.results()[0], "j1", delivered: 1)]))
        #expect(try fixture.jobRecord("j1").state == .finished)
        #expect(try fixture.audit() == [])
    }

    @Test func `entries of a lost consumer are pending and then claimed by another`() throws {
        let records = try reported()
        #expect(try fixture.perform(ReadResults(consumer: "g1", .pending(after: nil))) == records)
        #expect(
            try fixture.perform(ReadResults(consumer: "g1", .pending(after: records[0].id))) == [records[1]])
        #expect(try fixture.perform(ReadResults(consumer: "g2", .new)).isEmpty)
        #expect(try fixture.perform(ClaimResults(consumer: "g2", idleFor: .seconds(100))).records.isEmpty)
        let claim = try fixture.perform(ClaimResults(consumer: "g2", idleFor: .zero, count: 1))
        #expect(claim.records == [records[0]] && claim.next != nil)
        let rest = try fixture.perform(ClaimResults(consumer: "g2", idleFor: .zero, start: claim.next))
        #expect(rest.records == [records[1]] && rest.next == nil)
    }

    @Test func `the list of unregistered tokens is bounded`() throws {
        let records = try reported()
        var settlement = StoreFixture.settlement(records[0], "j1", delivered: 3)
        settlement.invalidTokens = StoreFixture.tokens(500).map { StoreFixture.dead($0, .unregistered) }
        var retention = Retention()
        retention.suppressed = 200
        try fixture.perform(Settle([settlement], retention: retention))
        // Redis trims a stream in whole nodes, so more than 200 entries may be left.
        let left = try fixture.suppressed()
        #expect((200..<300).contains(left.count))
        #expect(left.map { Array($0.token) } == Array(StoreFixture.tokens(500).suffix(left.count)))
    }

    @Test(arguments: [
        ["SET", "{pushfarm:demo}:delayed", "x"],
        ["SET", "{pushfarm:demo}:events", "x"], ["SET", "{pushfarm:demo}:suppressed:01", "x"],
        ["SET", "{pushfarm:demo}:suppression", "x"], ["SET", "{pushfarm:demo}:unproven", "x"],
        ["SET", "{pushfarm:demo}:scopes", "x"],
    ])
    func `an entry that cannot be settled stays and the call has no effect`(damage: [String]) throws {
        let records = try reported()
        if damage[0] == "SET" { try fixture.redis.run("DEL", damage[1]) }
        var command = RESPCommand()
        for word in damage { command.append(word) }
        try fixture.redis.run(command)
        var first = StoreFixture.settlement(records[0], "j1", delivered: 1)
        (first.jobs[0].failed, first.jobs[0].reasons, first.jobs[0].delayed) = (1, ["Bad": 1], 1)
        first.retries = [
            .init(
                shard: 1, lane: .high, delay: .zero, tokens: 1,
                body: StoreFixture.body([("j1", 1)], attempt: 1))
        ]
        first.invalidTokens = [StoreFixture.dead(StoreFixture.tokens(1)[0])]
        let second = StoreFixture.settlement(records[1], "j2", delivered: 3)
        let before = try dump()
        #expect(throws: StoreError.wrongType(key: damage[1])) {
            try fixture.perform(Settle([second, first]))
        }
        #expect(try dump() == before)
        #expect(try fixture.redis.run("XLEN", "{pushfarm:demo}:results").integer == 2)
    }

    /// All data that Redis holds for the app.
    private func dump() throws -> [String: [UInt8]] {
        var all: [String: [UInt8]] = [:]
        for key in try fixture.redis.run("KEYS", "*").array?.compactMap(\.text) ?? [] {
            all[key] = try fixture.redis.run("DUMP", key).bytes ?? []
        }
        return all
    }
}
