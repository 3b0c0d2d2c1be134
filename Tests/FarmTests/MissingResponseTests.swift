import FarmHarness
import Testing

/// A gateway that does not respond.
@Suite(.startsProcesses) struct MissingResponseTests {
    private func farm(_ faults: [String]) async throws -> Farm {
        try await Farm(Farm.Options(faults: faults, appLines: ["request_timeout: 1"]))
    }

    @Test func `pushes without a response are sent again until they get a response`() async throws {
        let farm = try await farm(["silence 10% processed"])
        let tokens = Tokens.make(500)
        try farm.push([Job(id: "s", tokens: tokens, fields: #""max_attempts":20"#)])
        let jobRecord = try await farm.finished("s")
        #expect(jobRecord.delivered == 500 && jobRecord.failed == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0)
        // The gateway processed the pushes to which it did not respond, so the retries are duplicates.
        #expect(ledger.doubles > 0 && ledger.doubles <= jobRecord.maybeDuplicated)
    }

    @Test func `a push that never gets a response fails after its last attempt`() async throws {
        let farm = try await farm([])
        let silent = Tokens.make(10, start: "0ff00000")
        let good = Tokens.make(100)
        try farm.push([Job(id: "x", tokens: silent + good, fields: #""max_attempts":2"#)])
        let jobRecord = try await farm.finished("x")
        #expect(jobRecord.delivered == 100 && jobRecord.failed == 10)
        #expect(jobRecord.reasons == ["exhausted": 10])
        let requests = try farm.gateway.ledger().requests
        #expect(silent.allSatisfy { requests[$0] == 2 })
        let failed = try farm.events("push.failed")
        #expect(failed.count == 10 && failed.allSatisfy { $0["cause"]?.isEmpty == false })
    }

    @Test func `a push with at-most-once delivery fails without a response`() async throws {
        let farm = try await farm(["silence 10% processed"])
        let tokens = Tokens.make(500)
        try farm.push([Job(id: "amo", tokens: tokens, fields: #""delivery":"at-most-once""#)])
        let jobRecord = try await farm.finished("amo")
        #expect(jobRecord.failed > 0 && jobRecord.delivered + jobRecord.failed == 500)
        #expect(jobRecord.reasons == ["unknown": jobRecord.failed])
        #expect(jobRecord.maybeDuplicated == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lines.count == 500 && ledger.requests.count == 500)
        #expect(ledger.lines.count { $0.lost == true } == jobRecord.failed)
    }

    @Test func `at-most-once delivery holds when a worker is killed`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["latency 1500ms", "streams 100"]))
        let workers = try await farm.ready().workers
        let tokens = Tokens.make(2_000)
        let jobs = Job.several("amk", tokens, size: 500, fields: #""delivery":"at-most-once""#)
        try farm.push(jobs)
        try await farm.gateway.requests(400)
        farm.kill(worker: workers[1].pid)
        try farm.gateway.control("latency 20ms")
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered + totals.failed == 2_000 && totals.failed > 0)
        #expect(totals.reasons == ["unknown": totals.failed])
        let ledger = try farm.gateway.ledger()
        #expect(ledger.requests.values.allSatisfy { $0 == 1 })
        // The gateway accepted every push that counts as delivered. It may also have accepted pushes that failed with the reason
        // `unknown`.
        #expect(ledger.deliveries.count >= totals.delivered)
    }
}
