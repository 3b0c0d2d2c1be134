import Testing

@testable import StoreProtocol

@Suite struct ReadRefusalsTests {
    @Test(arguments: [
        (since: 0, now: 30, minute: 6, before: 10, expected: 11),
        (since: 0, now: 59, minute: 6, before: 60, expected: 7),
        (since: 0, now: 60, minute: 6, before: 60, expected: 6),
        (since: 0, now: 90, minute: 6, before: 60, expected: 3),
        (since: 0, now: 120, minute: 6, before: 60, expected: 0),
        (since: 60, now: 0, minute: 6, before: 6, expected: 0),
    ])
    func `the last minute combines this minute and a part of the previous minute`(
        since: Int64, now: Int64, minute: Int, before: Int, expected: Int
    ) {
        var reply = ReadRefusals.Reply()
        (reply.since, reply.minute, reply.before) = (since * 1000, minute, before)
        #expect(reply.lastMinute(at: now * 1000) == expected)
    }

    @Test func `missing or odd numbers do no harm`() {
        var reply = ReadRefusals.Reply()
        (reply.since, reply.minute, reply.before) = (.min, .max, .max)
        #expect(reply.lastMinute(at: .max) == 0)
        reply.since = 0
        _ = reply.lastMinute(at: 1000)
    }
}
