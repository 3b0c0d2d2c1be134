import RedisProtocol
import Testing

import class FarmHarness.BlockingRedisClient

@testable import RedisClient
@testable import StoreProtocol

/// Waiting for the next job of an inbox.
@Suite struct InboxTests {
    private func command(_ keys: Keys, seconds: Int = 10) -> RESPCommand {
        NextJob(timeout: .seconds(seconds)).command(keys, hash: nil)
    }

    private func list(_ name: String, _ desk: Desk) throws -> [String]? {
        try desk.redis.run("LRANGE", name, "0", "-1").array?.compactMap(\.text)
    }

    @Test func `a push wakes those who wait, each by one job, and the jobs are taken in their order`() throws
    {
        let desk = try Desk()
        let one = try desk.redis.anotherClient()
        let two = try desk.redis.anotherClient()
        try one.send(command(desk.keys))
        #expect(!one.hasReply(within: 50))
        try two.send(command(desk.keys))
        #expect(!two.hasReply(within: 50))
        try desk.redis.run("RPUSH", "pushfarm:demo", "a", "b", "c")
        #expect(try NextJob.result(one.receive()) == Array("a".utf8))
        #expect(try NextJob.result(two.receive()) == Array("b".utf8))
        #expect(try list("pushfarm:demo", desk) == ["c"])
        #expect(try list("{pushfarm:demo}:taken", desk) == ["a", "b"])
        // With jobs there, it answers at once.
        #expect(try NextJob.result(one.run(command(desk.keys))) == Array("c".utf8))
        #expect(try list("{pushfarm:demo}:taken", desk) == ["a", "b", "c"])
    }

    @Test func `a job that was moved for nobody is taken next`() throws {
        let desk = try Desk()
        let client = try desk.redis.anotherClient()
        try client.send(command(desk.keys))
        #expect(!client.hasReply(within: 30))
        try desk.redis.run("RPUSH", "pushfarm:demo", "a", "b")
        #expect(client.hasReply(within: 2000))
        let reply = try desk.perform(
            Take(token: desk.token, known: 0, maxJobs: 9, maxBytes: 1000, maxJobBytes: 1000))
        #expect(reply.jobs == [Array("a".utf8), Array("b".utf8)])
    }

    @Test func `without a job the wait ends in time`() throws {
        let desk = try Desk()
        let wait = NextJob(timeout: .milliseconds(30))
        #expect(try NextJob.result(desk.redis.run(wait.command(desk.keys, hash: nil))) == nil)
    }
}
