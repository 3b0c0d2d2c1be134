import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Wishes and readings of one millisecond, and of a clock that was put back: what is stored is ahead of it here.
@Suite struct FeedbackWishTests {
    private static let ahead: Int64 = 60_000
    let desk: Desk
    init() throws { desk = try Desk() }

    private func begin(_ reader: String) throws -> BeginFeedback.Reply {
        try desk.perform(BeginFeedback(token: desk.token, reader: reader, limit: .seconds(60)))
    }

    private func end(_ reader: String) throws -> ReadFeedback.State {
        try desk.perform(EndFeedback(reader: reader, tuples: 1, next: .seconds(3600), error: ""))
        return try #require(try desk.perform(ReadFeedback()))
    }

    private func set(_ field: String, _ value: Int64) throws {
        try desk.redis.run("HSET", "{pushfarm:demo}:feedback", field, "\(value)")
    }

    @Test func `a reading serves the wishes before it`() throws {
        let wish = try desk.perform(AskForFeedback()) + Self.ahead
        try set("asked", wish)
        #expect(try begin("r1") == .read(failures: 0))
        #expect(try end("r1").served > wish)
        guard case .wait = try begin("r2") else { throw Unexpected() }
    }

    @Test func `a wish while it is read, or after, asks for another reading`() throws {
        #expect(try begin("r1") == .read(failures: 0))
        try set("begun_at", try desk.perform(AskForFeedback()) + Self.ahead)
        let wish = try desk.perform(AskForFeedback())
        // The same reader asks again, as after a lost reply: its reading began before the wish all the same.
        #expect(try begin("r1") == .read(failures: 0))
        #expect(try end("r1").served <= wish)
        #expect(try begin("r2") == .read(failures: 0))
        #expect(try end("r2").served > wish)
        let later = try desk.perform(AskForFeedback())
        #expect(try begin("r3") == .read(failures: 0))
        #expect(try end("r3").served > later)
    }

    private struct Unexpected: Error {}
}
