import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks requests to read the feedback service, and readings in the same millisecond as a request or after the Redis clock
/// was set back. For a clock that was set back, the tests store times in the future.
@Suite struct FeedbackRequestTests {
    private static let ahead: Int64 = 60_000
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func begin(_ reader: String) throws -> BeginFeedback.Reply {
        try fixture.perform(BeginFeedback(token: fixture.token, reader: reader, limit: .seconds(60)))
    }

    private func end(_ reader: String) throws -> ReadFeedbackStatus.State {
        try fixture.perform(EndFeedback(reader: reader, tuples: 1, next: .seconds(3600), error: ""))
        return try #require(try fixture.perform(ReadFeedbackStatus()))
    }

    private func set(_ field: String, _ value: Int64) throws {
        try fixture.redis.run("HSET", "{pushfarm:demo}:feedback", field, "\(value)")
    }

    @Test func `a reading serves earlier requests`() throws {
        let askedAt = try fixture.perform(AskForFeedback()) + Self.ahead
        try set("asked", askedAt)
        #expect(try begin("r1") == .read(failures: 0))
        #expect(try end("r1").servedUntil > askedAt)
        guard case .wait = try begin("r2") else { throw Unexpected() }
    }

    @Test func `a request during or after a reading causes another reading`() throws {
        #expect(try begin("r1") == .read(failures: 0))
        try set("begun_at", try fixture.perform(AskForFeedback()) + Self.ahead)
        let askedAt = try fixture.perform(AskForFeedback())
        // The same reader begins again, as after a lost reply. The reading still counts as begun at its first begin, which is
        // before the request.
        #expect(try begin("r1") == .read(failures: 0))
        #expect(try end("r1").servedUntil <= askedAt)
        #expect(try begin("r2") == .read(failures: 0))
        #expect(try end("r2").servedUntil > askedAt)
        let later = try fixture.perform(AskForFeedback())
        #expect(try begin("r3") == .read(failures: 0))
        #expect(try end("r3").servedUntil > later)
    }

    private struct Unexpected: Error {}
}
