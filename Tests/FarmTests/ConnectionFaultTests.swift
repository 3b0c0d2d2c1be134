import FarmHarness
import Testing

/// Connections and streams that end early.
/// A push that the gateway certainly did not process is sent again, and its first send does not count as an attempt.
@Suite(.startsProcesses(limit: .seconds(300))) struct ConnectionFaultTests {
    /// Delivers all tokens with faults.
    /// - Returns: the sums of the job records, and the ledger.
    private func deliver(_ tokens: [String], _ faults: [String]) async throws -> (Totals, Ledger, Farm) {
        let farm = try await Farm(Farm.Options(faults: faults))
        // Only one attempt is allowed, so the test fails if an unprocessed push counts as an attempt.
        let jobs = Job.several("f", tokens, size: 500, fields: #""max_attempts":1"#)
        try farm.push(jobs)
        let totals = try await farm.finished(jobs)
        if totals.failed > 0 {
            let events = try farm.events("push.failed").prefix(3)
            Issue.record("\(events)")
        }
        return (totals, try farm.gateway.ledger(), farm)
    }

    @Test(arguments: [
        ["latency 1ms-10ms", "goaway 100"], ["latency 1ms-10ms", "goaway 100 announced"], ["goaway 7"],
        ["latency 5ms", "refuse 10%"], ["streams 8", "refuse 30%", "goaway 50"],
    ])
    func `unprocessed pushes are sent again exactly once`(faults: [String]) async throws {
        // With "goaway 7" each connection carries only seven pushes, and dials take time. So the test uses fewer tokens.
        let tokens = Tokens.make(faults == ["goaway 7"] ? 400 : 1_500)
        let (totals, ledger, farm) = try await deliver(tokens, faults)
        #expect(
            totals.delivered == tokens.count && totals.failed == 0 && totals.maybeDuplicated == 0,
            "\(totals)")
        #expect(ledger.lost(of: tokens) == 0 && ledger.doubles == 0)
        let happened = faults.contains { $0.hasPrefix("goaway") } ? "goaways" : "refused_streams"
        #expect(try farm.gateway.counter(happened) > 0)
    }

    @Test(arguments: [
        ["reset 2%"], ["reset 2% processed"], ["latency 5ms", "cut 200"],
    ])
    func `pushes without a response are sent again and count as possibly duplicated`(faults: [String])
        async throws
    {
        let farm = try await Farm(Farm.Options(faults: faults))
        let tokens = Tokens.make(1_500)
        let jobs = Job.several("u", tokens, size: 500, fields: #""max_attempts":100"#)
        try farm.push(jobs)
        // The test ends the faults before the last pushes are done. Otherwise the backoff of the last pushes would get long.
        try await farm.gateway.requests(1_400)
        try farm.gateway.control("calm")
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == tokens.count && totals.failed == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0)
        #expect(ledger.doubles <= totals.maybeDuplicated)
        #expect(totals.maybeDuplicated > 0)
        if faults == ["reset 2% processed"] { #expect(ledger.doubles > 0) }
    }

    @Test func `a worker obeys a lowered stream limit at once`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["latency 10ms"]))
        let tokens = Tokens.make(1_500)
        let jobs = Job.several("s", tokens, size: 500)
        try farm.push(jobs)
        try await farm.gateway.requests(300)
        try farm.gateway.control("streams 20")
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == tokens.count && totals.maybeDuplicated == 0)
        #expect(try farm.gateway.counter("protocol_errors") == 0)
        #expect(try farm.gateway.ledger().doubles == 0)
    }

    @Test func `a worker dials with backoff after connections that close at once`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["close-new on"]))
        let tokens = Tokens.make(10)
        try farm.push([Job(id: "late", tokens: tokens)])
        try await eventually("some dials") { try farm.gateway.counter("closed_at_once") >= 3 }
        try farm.gateway.control("close-new off")
        #expect(try await farm.finished("late").delivered == 10)
        #expect(try farm.gateway.ledger().doubles == 0)
    }
}
