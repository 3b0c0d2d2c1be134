import FarmHarness
import Testing

/// A gateway that requests delays with Retry-After.
@Suite(.startsProcesses) struct RetryAfterTests {
    @Test func `a phase of 503 loses no push`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["answer 503"]))
        let tokens = Tokens.make(1_000)
        let jobs = Job.several("p", tokens, size: 250)
        try farm.push(jobs)
        // Each worker notices the trouble after ten requests, and then sends only probes.
        try await farm.gateway.requests(21)
        try farm.gateway.control("answer off")
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == tokens.count && totals.failed == 0 && totals.maybeDuplicated == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0 && ledger.doubles == 0)
        // During the phase of 503 the farm sends only some of the pushes, so the other pushes use no attempt.
        #expect(ledger.lines.count { $0.status == 503 } < tokens.count)
    }

    @Test func `a retry waits for Retry-After`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["answer 503 retry-after=3 share=50%"]))
        let tokens = Tokens.make(8)
        try farm.push([Job(id: "ra", tokens: tokens)])
        try await farm.gateway.requests(8)
        try farm.gateway.control("answer off")
        let jobRecord = try await farm.finished("ra")
        #expect(jobRecord.delivered == 8)
        let lines = try farm.gateway.ledger().lines
        for refused in lines where refused.status == 503 {
            let next = try #require(lines.first { $0.token == refused.token && $0.status == 200 })
            // By the ledger's times, the retry came at least 3 seconds after the refusal.
            #expect(next.time - refused.time >= 3_000)
        }
    }
}
