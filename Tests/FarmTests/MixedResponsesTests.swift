import FarmHarness
import Testing

@Suite(.startsProcesses) struct MixedResponsesTests {
    @Test func `thousands of pushes arrive once each, and the job record counts refusals by reason`()
        async throws
    {
        let farm = try await Farm()
        let good = Tokens.make(3_500)
        let bad = Tokens.make(100, start: "bad00000", seed: 2)
        let wrongTopic = Tokens.make(20, start: "bad10000", seed: 3)
        let unregistered = Tokens.make(60, start: "dead0000", seed: 4)
        let expired = Tokens.make(20, start: "fade0000", seed: 5)
        // The different kinds of tokens are spread evenly over all jobs.
        let all = (good + bad + wrongTopic + unregistered + expired).sorted {
            $0.suffix(16) < $1.suffix(16)
        }
        let jobs =
            Job.several("one", Array(all[..<20]), size: 1)
            + Job.several("some", Array(all[20..<1020]), size: 100, fields: #""lane":"bulk""#)
            + Job.several("many", Array(all[1020...]), size: 1000)
        try farm.push(jobs)
        let totals = try await farm.finished(jobs)
        #expect(totals.accepted == all.count && totals.delivered == good.count)
        #expect(totals.failed == 200 && totals.maybeDuplicated == 0)
        #expect(
            totals.reasons == [
                "BadDeviceToken": 100, "DeviceTokenNotForTopic": 20, "Unregistered": 60,
                "ExpiredToken": 20,
            ])
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lines.count == all.count)
        #expect(ledger.requests.count == all.count)
        #expect(ledger.lost(of: good) == 0 && ledger.doubles == 0)
        #expect(ledger.deliveries.count == good.count)
        let dead = try farm.events("token.invalid").compactMap { $0["token"] }
        #expect(dead.sorted() == (bad + wrongTopic + unregistered + expired).sorted())
        #expect(try farm.events("push.failed").count == 200)
        #expect(try farm.events("job.finished").count == jobs.count)
    }
}
