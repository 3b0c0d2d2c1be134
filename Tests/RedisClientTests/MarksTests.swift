import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// How what operators want is written down and read.
@Suite struct MarksTests {
    @Test func `a mark says what, who, when and why`() throws {
        let desk = try Desk()
        try desk.split([("a", 1), ("p", 1)])
        try desk.quarantine("p")
        try desk.perform(Hold(.job("a", .pause), by: "me@here", reason: "in three words"))
        try desk.perform(Hold(.device([0, 255, 32], shard: 3), by: "me@here", reason: "it loops"))
        try desk.perform(Hold(.shard(2, .quarantine), by: "you@there"))
        try desk.perform(Hold(.cancel("a", from: 4_000_000_000_000, keep: 9), by: "me@here"))
        func marks(_ kind: ReadMarks.Kind) throws -> [ReadMarks.Mark] {
            let request = ReadMarks(kind)
            return request.marks(try desk.perform(request))
        }
        let jobs = try marks(.jobs)
        #expect(jobs.map(\.text) == ["p", "a"] && jobs.map(\.kind) == ["poison", "pause"])
        #expect(
            jobs[1].by == "me@here" && jobs[1].reason == "in three words" && jobs[1].since > 1_700_000_000_000
        )
        let device = try #require(try marks(.devices).first)
        #expect(device.name == [0, 255, 32] && device.shard == 3 && device.reason == "it loops")
        let shard = try #require(try marks(.shards).first)
        #expect(shard.text == "02" && shard.kind == "quarantine" && shard.by == "you@there")
        let cancel = try #require(try marks(.cancels).first)
        #expect(cancel.from == 4_000_000_000_000 && cancel.by == "me@here" && cancel.kind == "cancel")
        let standing = try desk.perform(ReadStanding())
        #expect(standing.holds == 4 && standing.cancels == 1 && standing.pause == nil)
    }
}
