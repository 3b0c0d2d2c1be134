import FarmHarness
import Testing

/// Invalid jobs are refused with a clear error and kept, and valid jobs continue.
@Suite(.startsProcesses) struct RefusedJobTests {
    private static let token = Tokens.make(1, seed: 99)[0]

    /// Malformed jobs, each with the field that causes its refusal.
    private static let bad: [(text: String, field: String)] = [
        ("", "job"), ("{", "job"), ("[]", "job"), ("null", "job"), ("\u{0}\u{1}", "job"),
        (#"{"tokens":[],"payload":{}}"#, "tokens"),
        (#"{"tokens":["\#(token)"],"payload":[]}"#, "payload"),
        (#"{"tokens":["\#(token)"]}"#, "payload"),
        (#"{"payload":{}}"#, "tokens"),
        (#"{"tokens":["\#(token)"],"payload":{},"lanes":"high"}"#, "lanes"),
        (#"{"tokens":["\#(token)"],"payload":{},"lane":"fast"}"#, "lane"),
        (#"{"tokens":["\#(token)"],"payload":{},"ttl":1,"ttl":1}"#, "ttl"),
        (#"{"tokens":["\#(token)"],"payload":{},"ttl":-1}"#, "ttl"),
        (#"{"tokens":["\#(token)"],"payload":{},"priority":7}"#, "priority"),
        (#"{"tokens":["\#(token)"],"payload":{},"app":"other"}"#, "app"),
        (#"{"tokens":["\#(token)"],"payload":{},"id":""}"#, "id"),
        (#"{"tokens":["\#(token)"],"payload":{},"push_type":"voip","topic":"a.b"}"#, "topic"),
        (
            #"{"tokens":["\#(token)"],"payload":{"aps":{"alert":"x"}},"push_type":"background"}"#,
            "payload"
        ),
        (#"{"tokens":["\#(token)"],"payload":{"a":01}}"#, "payload"),
        (
            #"{"tokens":["\#(token)"],"payload":{"a":"\#(String(repeating: "x", count: 4096))"}}"#,
            "payload"
        ),
    ]

    @Test
    func `malformed jobs are refused with field, position and reason, and valid jobs pass`()
        async throws
    {
        let farm = try await Farm()
        let tokens = Tokens.make(Self.bad.count)
        let client = try farm.redis.client()
        for (number, bad) in Self.bad.enumerated() {
            try client.run("RPUSH", "pushfarm:demo", bad.text)
            try client.run(
                "RPUSH", "pushfarm:demo", Job(id: "good-\(number)", tokens: [tokens[number]]).text)
        }
        _ = try await farm.event("job.finished", number: tokens.count)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0 && ledger.lines.count == tokens.count)

        let events = try farm.events("job.refused")
        #expect(events.count == Self.bad.count)
        let originals = try client.run("XRANGE", "{pushfarm:demo}:refused", "-", "+").entries
        #expect(originals.count == Self.bad.count)
        for (bad, (event, original)) in zip(Self.bad, zip(events, originals)) {
            #expect(event["field"] == bad.field, "\(bad.text.prefix(80)): \(event)")
            #expect(event["reason"]?.isEmpty == false)
            let position = try #require(event["position"].flatMap { Int($0) })
            #expect((0...bad.text.utf8.count).contains(position))
            #expect(original["original"] == bad.text)
            #expect(original["field"] == event["field"] && original["reason"] == event["reason"])
        }
        let unknown = try #require(events.first { $0["field"] == "lanes" })
        #expect(unknown["reason"]?.contains("lane") == true)
    }

    @Test func `a job above the size limit is refused, and its original is truncated`() async throws {
        let farm = try await Farm(Farm.Options(appLines: ["max_job_bytes: 100000"]))
        let big = Job(id: "big", tokens: Tokens.make(2_000)).text
        try farm.push(big)
        try farm.push([Job(id: "next", tokens: Tokens.make(1))])
        #expect(try await farm.finished("next").delivered == 1)
        let event = try #require(try farm.events("job.refused").first)
        #expect(event["field"] == "job" && event["reason"]?.isEmpty == false)
        let original = try #require(
            try farm.redis.client().run("XRANGE", "{pushfarm:demo}:refused", "-", "+").entries.first)
        #expect(original["original"] == String(big.prefix(65_536)))
        #expect(try farm.gateway.ledger().lines.count == 1)
    }

    @Test func `a job id is accepted once, and a token in a job is sent once`() async throws {
        let farm = try await Farm()
        let tokens = Tokens.make(30)
        let twice = tokens + tokens.map { $0.uppercased() } + tokens[..<5]
        try farm.push([Job(id: "once", tokens: twice), Job(id: "once", tokens: Tokens.make(3, seed: 5))])
        let jobRecord = try await farm.finished("once")
        #expect(jobRecord.submitted == 65 && jobRecord.accepted == 30 && jobRecord.duplicates == 35)
        #expect(jobRecord.delivered == 30)
        let event = try await farm.event("job.duplicate")
        #expect(event["job"] == "once")
        // After the job is finished, another job with its id is still a duplicate.
        try farm.push([Job(id: "once", tokens: Tokens.make(3, seed: 5))])
        _ = try await farm.event("job.duplicate", number: 2)
        // A duplicate does not count as a refused job and needs no repair.
        #expect(try farm.events("job.refused").isEmpty)
        #expect(try farm.redis.client().run("XLEN", "{pushfarm:demo}:refused").integer == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lines.count == 30 && ledger.lost(of: tokens) == 0 && ledger.doubles == 0)
    }

    @Test func `a job with only malformed tokens is finished at once`() async throws {
        let farm = try await Farm()
        try farm.push([Job(id: "none", tokens: ["xyz", "abc", ""])])
        let jobRecord = try await farm.finished("none")
        #expect(jobRecord.submitted == 3 && jobRecord.malformed == 3 && jobRecord.accepted == 0)
        #expect(try farm.events("token.malformed").count == 3)
        #expect(try farm.events("job.finished").count == 1)
    }
}
