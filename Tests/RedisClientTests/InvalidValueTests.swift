import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks values that no script writes, in keys of the right type. A wrong value must not stop the work on other values.
@Suite struct InvalidValueTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private static let values = [
        "9223372036854775807", "-9223372036854775808", "99999999999999999999", "1e400", "nan", "abc", "",
    ]
    private static let app = "{pushfarm:demo}:"

    /// Makes two results entries. Returns a call that settles them: two pushes of `a` failed, and two pushes of `b` were
    /// delivered.
    private func twoEntries() throws -> Settle {
        try fixture.split([("a", 2), ("b", 2)])
        let batch = try fixture.checkout().batches[0]
        _ = try fixture.report(batch, 0..<2, entry: StoreFixture.delivered("a", 2))
        _ = try fixture.report(batch, 2..<4, entry: StoreFixture.delivered("b", 2))
        let records = try fixture.results()
        var odd = Settlement(entry: records[0].id)
        odd.jobs = [Settlement.Job(id: "a")]
        (odd.jobs[0].failed, odd.jobs[0].maybeDuplicated, odd.jobs[0].reasons) = (2, 1, ["odd": 2])
        return Settle([odd, StoreFixture.settlement(records[1], "b", delivered: 2)])
    }

    private func field(_ key: String, _ name: String) throws -> String? {
        try fixture.redis.run("HGET", Self.app + key, name).text
    }

    @Test(
        arguments: ["failed", "in_flight", "maybe_duplicated", "reason:odd", "delayed", "accepted"], values)
    func `a wrong count in one job record does not block other jobs`(name: String, value: String)
        throws
    {
        let settle = try twoEntries()
        try fixture.redis.run("HSET", Self.app + "job:a", name, value)
        #expect(try fixture.perform(settle).settledCount == 2)
        #expect(try field("job:b", "delivered") == "2" && field("job:b", "state") == "finished")
        #expect(try field("load", "open") == "0" && field("load", "settled") == "4")
        if name != "delayed", name != "accepted" {
            #expect(try field("job:a", "reason:odd") == "2" && field("job:a", "maybe_duplicated") == "1")
        }
    }

    @Test(arguments: values) func `a wrong load count does not block settlement`(value: String) throws {
        let settle = try twoEntries()
        try fixture.redis.run("HSET", Self.app + "load", "open", value, "settled", value)
        #expect(try fixture.perform(settle).settledCount == 2)
        #expect(try field("job:b", "state") == "finished" && field("load", "settled") == "4")
    }

    @Test(arguments: values) func `a wrong load count does not block producers or the intake`(value: String)
        throws
    {
        _ = try fixture.redis.run(ScriptFolder.functionCommand())
        try fixture.redis.run("SADD", "{pushfarm}:apps", "demo")
        try fixture.redis.run("HSET", Self.app + "load", "open", value)
        try fixture.redis.run("HSET", Self.app + "admission", "configured", value)
        for name in ["since", "last_event_at", "minute", "pending_refused", "refused"] {
            try fixture.redis.run("HSET", Self.app + "refusals", name, value)
        }
        let updateAdmission = UpdateAdmission(
            memory: .keep, limitsIntake: false, retryAfter: .milliseconds(500),
            limits: AppLimits(backlog: 1000, inbox: 1000, inboxBytes: 1 << 30, jobBytes: 1 << 20),
            jobRecordSeconds: 600)
        _ = try fixture.perform(updateAdmission)
        _ = try fixture.perform(SubmitJob(job: Array(SubmitTests.job().utf8), id: ""))
        _ = try fixture.redis.run("RPUSH", "pushfarm:demo", SubmitTests.job())
        let take = Take(token: fixture.token, known: 0, maxJobs: 9, maxBytes: 1 << 20, maxJobBytes: 1 << 20)
        _ = try fixture.perform(take)
        _ = try fixture.perform(updateAdmission)
    }

    @Test func `suppressions are removed as far as their records are found`() throws {
        let settle = try twoEntries()
        var settlements = settle.settlements
        (settlements[0].responses, settlements[0].scopes) = (3, [StoreFixture.scope])
        settlements[0].invalidTokens = [StoreFixture.dead([1, 1]), StoreFixture.dead([1, 2])]
        try fixture.redis.run("HSET", Self.app + "guard", "answers", "1000", "bad", "200")
        try fixture.redis.run("SET", Self.app + "suppressed:07", "x")
        try fixture.redis.run("RPUSH", Self.app + "unproven", "07 1-1", "08 abc", "nonsense")
        #expect(try fixture.perform(Settle(settlements)).settledCount == 2)
        #expect(try field("job:b", "state") == "finished" && field("guard", "state") == "held")
        #expect(try fixture.redis.run("LLEN", Self.app + "unconfirmed").integer == 2)
    }

    @Test func `an unreadable suppression does not block others`() throws {
        let record = try #require(StoreFixture.dead([1, 1]).record).bytes
        let good = [0x92, 0xA2, 0x30, 0x31, 0xA0 | UInt8(record.count)] + record
        for bytes in [[0x92, 0xA2, 0x30, 0x31, 0x90], [0x92, 0x01, 0x02], [0xC1], good] as [[UInt8]] {
            var command = RESPCommand("RPUSH", Self.app + "unconfirmed")
            command.append(bytes)
            try fixture.redis.run(command)
        }
        try fixture.redis.run("HSET", Self.app + "guard", "state", "held")
        _ = try fixture.perform(ResolveUnconfirmed(.confirm))
        #expect(try fixture.redis.run("XLEN", Self.app + "suppressed:01").integer == 1)
        #expect(try field("suppression", "01") != nil)
    }
}
