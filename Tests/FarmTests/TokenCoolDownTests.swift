import FarmHarness
import Testing

/// A token that got 429 cools down for half a minute. These tests wait for the whole cool-down.
@Suite(.startsProcesses(limit: .seconds(240))) struct TokenCoolDownTests {
    @Test
    func `pushes to a cooling token are sent later in order, without counting attempts`()
        async throws
    {
        let farm = try await Farm()
        let device = Tokens.make(1, seed: 9)[0]
        let others = Tokens.make(2)
        try farm.gateway.control("token \(device) throttled")
        try farm.push([Job(id: "first", tokens: [device], payload: #"{"aps":{"alert":"1"}}"#)])
        try await farm.gateway.requests(1)
        for (number, other) in others.enumerated() {
            // Each push of this job has only one attempt, so the push would fail if the cool-down used an attempt.
            let job = Job(
                id: "later-\(number)", tokens: [device, other],
                payload: #"{"aps":{"alert":"later \#(number)"}}"#, fields: #""max_attempts":1"#)
            try farm.push([job])
            try await eventually("the other one is through") {
                guard let jobRecord = try await farm.jobRecord(job.id) else { return false }
                return jobRecord.delivered == 1 && jobRecord.delayed == 1
            }
        }
        #expect(try farm.gateway.ledger().requests[device] == 1)
        try farm.gateway.control("token \(device) forget")
        for id in ["first", "later-0", "later-1"] {
            let jobRecord = try await farm.finished(id)
            #expect(jobRecord.delivered == jobRecord.submitted && jobRecord.failed == 0)
        }
        let lines = try farm.gateway.ledger().lines
        let mine = lines.filter { $0.token == device }
        #expect(mine.map(\.status) == [429, 200, 200, 200])
        // The payload of each later job is known from its push to the other token.
        let payloads = others.map { other in lines.first { $0.token == other }?.bodySha256 }
        #expect(mine.map(\.bodySha256) == [mine[0].bodySha256, mine[0].bodySha256] + payloads)
    }

    @Test func `a cooling token does not delay other tokens`() async throws {
        let farm = try await Farm()
        let throttled = Tokens.make(1, seed: 9)[0]
        try farm.gateway.control("token \(throttled) throttled")
        let others = Tokens.make(200)
        try farm.push([Job(id: "th", tokens: [throttled] + others)])
        let open = try await eventually("only the throttled one is open") {
            let jobRecord = try await farm.jobRecord("th")
            return jobRecord?.delivered == 200 && jobRecord?.delayed == 1 ? jobRecord : nil
        }
        #expect(open.state == "open" && open.failed == 0 && open.addsUp)
        try farm.gateway.control("token \(throttled) forget")
        let jobRecord = try await farm.finished("th")
        #expect(jobRecord.delivered == 201 && jobRecord.maybeDuplicated == 0)
        #expect(try farm.gateway.ledger().requests[throttled] == 2)
        #expect(try farm.events("token.invalid").isEmpty)
    }
}
