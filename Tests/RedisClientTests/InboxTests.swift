import RedisProtocol
import Testing

import class FarmHarness.BlockingRedisClient

@testable import RedisClient
@testable import StoreProtocol

/// Checks the wait for the next job of an inbox.
@Suite struct InboxTests {
    private func command(_ keys: Keys, seconds: Int = 10) -> RESPCommand {
        NextJob(timeout: .seconds(seconds)).command(keys, hash: nil)
    }

    private func list(_ name: String, _ fixture: StoreFixture) throws -> [String]? {
        try fixture.redis.run("LRANGE", name, "0", "-1").array?.compactMap(\.text)
    }

    @Test func `a push wakes waiting clients in order and each gets one job`() throws {
        let fixture = try StoreFixture()
        let one = try fixture.redis.anotherClient()
        let two = try fixture.redis.anotherClient()
        try one.send(command(fixture.keys))
        #expect(!one.hasReply(within: 50))
        try two.send(command(fixture.keys))
        #expect(!two.hasReply(within: 50))
        try fixture.redis.run("RPUSH", "pushfarm:demo", "a", "b", "c")
        #expect(try NextJob.result(one.receive()) == Array("a".utf8))
        #expect(try NextJob.result(two.receive()) == Array("b".utf8))
        #expect(try list("pushfarm:demo", fixture) == ["c"])
        #expect(try list("{pushfarm:demo}:taken", fixture) == ["a", "b"])
        // With jobs in the inbox, the command replies at once.
        #expect(try NextJob.result(one.run(command(fixture.keys))) == Array("c".utf8))
        #expect(try list("{pushfarm:demo}:taken", fixture) == ["a", "b", "c"])
    }

    @Test func `a job that was moved without a receiver is taken next`() throws {
        let fixture = try StoreFixture()
        let client = try fixture.redis.anotherClient()
        try client.send(command(fixture.keys))
        #expect(!client.hasReply(within: 30))
        try fixture.redis.run("RPUSH", "pushfarm:demo", "a", "b")
        #expect(client.hasReply(within: 2000))
        let reply = try fixture.perform(
            Take(token: fixture.token, known: 0, maxJobs: 9, maxBytes: 1000, maxJobBytes: 1000))
        #expect(reply.jobs == [Array("a".utf8), Array("b".utf8)])
    }

    @Test func `without a job the wait times out`() throws {
        let fixture = try StoreFixture()
        let wait = NextJob(timeout: .milliseconds(30))
        #expect(try NextJob.result(fixture.redis.run(wait.command(fixture.keys, hash: nil))) == nil)
    }
}
