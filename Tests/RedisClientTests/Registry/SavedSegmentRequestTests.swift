import Testing

@testable import RedisClient
@testable import StoreProtocol

struct SavedSegmentRequestTests {
    @Test func `a segment is saved, replaced, listed and removed`() throws {
        let (redis, keys) = (try PrivateRedis(), Keys(app: "demo"))
        #expect(try redis.perform(ReadSegments(), keys) == .init(segments: [], unreadable: []))
        let first = SavedSegment(name: "fans", expression: "tag:sport", by: "ann", at: 1)
        let second = SavedSegment(name: "fans", expression: "tag:\"news\"", by: "bob", at: 2)
        #expect(try redis.perform(SaveSegment(first), keys))
        #expect(try !redis.perform(SaveSegment(second), keys))
        #expect(try redis.perform(ReadSegments(), keys).segments == [second])
        #expect(try redis.run("HEXISTS", "{pushfarm:demo}:segments", "fans").integer == 1)
        #expect(try redis.perform(RemoveSegment(name: "fans"), keys))
        #expect(try !redis.perform(RemoveSegment(name: "fans"), keys))
        #expect(try redis.perform(ReadSegments(), keys).segments.isEmpty)
    }
}
