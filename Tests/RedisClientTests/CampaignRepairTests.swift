import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks that an audit knows jobs to which campaigns add pushes, and that a repair restores their records.
@Suite struct CampaignRepairTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
        try fixture.runCampaign()
        _ = try fixture.perform(fixture.campaignStep(1))
    }

    private func repair() throws {
        _ = try fixture.perform(Repair(.jobRecords(nil), shards: StoreFixture.shards))
    }

    @Test func `a campaign that may add pushes has no fault`() throws {
        #expect(try fixture.audit() == [])
        let record = try fixture.jobRecord("c")
        #expect(record.isAdding && record.accepted == 3 && record.queued == 3 && record.submitted == 3)
        #expect(record.state == .open)
    }

    /// `accepted` is the number of accepted pushes after the repair.
    @Test(arguments: [
        (damage: ["HDEL", "adding"], accepted: 4),
        (damage: ["HSET", "adding", "no"], accepted: 3),
        (damage: ["HSET", "accepted", "9"], accepted: 8),
        (damage: ["HSET", "state", "finished"], accepted: 3),
        (damage: ["HDEL", "accepted"], accepted: 3),
        (damage: ["DEL"], accepted: 3),
        (damage: ["SET", "x"], accepted: 3),
    ])
    func `a repair restores the job record of a campaign, which then ends`(damage: [String], accepted: Int)
        throws
    {
        let key = "{pushfarm:demo}:job:c"
        if damage[0] == "SET" { try fixture.run(["DEL", key]) }
        try fixture.run([damage[0], key] + damage.dropFirst())
        #expect(try fixture.audit().contains { $0.hasPrefix("job c ") })
        try repair()
        #expect(try fixture.audit() == [])
        #expect(try fixture.jobRecord("c").isAdding && fixture.jobRecord("c").accepted == accepted)

        _ = try fixture.perform(fixture.campaignEnd(2, .finished))
        #expect(try fixture.audit() == [])
        #expect(try fixture.jobRecord("c").state == .open)
        let batch = try fixture.checkout().batches[0]
        _ = try fixture.report(batch, 0..<3, entry: StoreFixture.delivered("c", 3))
        _ = try fixture.perform(
            Settle(try fixture.results().map { StoreFixture.settlement($0, "c", delivered: 3) }))
        #expect(try fixture.jobRecord("c").state == .finished)
        #expect(try fixture.audit() == [])
    }

    @Test func `a repair ends the adding of a campaign that has ended`() throws {
        try fixture.run(["HSET", "{pushfarm:demo}:campaign:c", "state", "finished"])
        #expect(try fixture.audit() == ["job c has adding 1 but its campaign differs"])
        try repair()
        #expect(try fixture.audit() == [])
        #expect(try !fixture.jobRecord("c").isAdding && fixture.jobRecord("c").accepted == 3)
    }
}
