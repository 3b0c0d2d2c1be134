import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks how pauses of operators are written and read.
@Suite struct PausesTests {
    @Test func `a pause records its subject, operator, time and reason`() throws {
        let fixture = try StoreFixture()
        try fixture.split([("a", 1), ("p", 1)])
        try fixture.quarantine("p")
        try fixture.perform(ChangePauses(.job("a", .pause), by: "me@here", reason: "in three words"))
        try fixture.perform(ChangePauses(.token([0, 255, 32], shard: 3), by: "me@here", reason: "it loops"))
        try fixture.perform(ChangePauses(.shard(2, .quarantine), by: "you@there"))
        try fixture.perform(ChangePauses(.cancel("a", from: 4_000_000_000_000, keep: 9), by: "me@here"))
        func pauses(_ kind: ReadPauses.Kind) throws -> [ReadPauses.Item] {
            let request = ReadPauses(kind)
            return request.pauses(try fixture.perform(request))
        }
        let jobs = try pauses(.jobs)
        #expect(jobs.map(\.text) == ["p", "a"] && jobs.map(\.kind) == ["poison", "pause"])
        #expect(
            jobs[1].by == "me@here" && jobs[1].reason == "in three words" && jobs[1].since > 1_700_000_000_000
        )
        let device = try #require(try pauses(.tokens).first)
        #expect(device.name == [0, 255, 32] && device.shard == 3 && device.reason == "it loops")
        let shard = try #require(try pauses(.shards).first)
        #expect(shard.text == "02" && shard.kind == "quarantine" && shard.by == "you@there")
        let cancel = try #require(try pauses(.cancels).first)
        #expect(cancel.from == 4_000_000_000_000 && cancel.by == "me@here" && cancel.kind == "cancel")
        let appState = try fixture.perform(ReadAppState())
        #expect(appState.pauseChanges == 4 && appState.cancels == 1 && appState.pause == nil)
    }
}
