import RESP
import Testing

@testable import FarmStore

/// The blocking look at an inbox, and what it leaves behind.
@Suite struct InboxTests {
    private func command(_ keys: Keys, seconds: Int = 10) -> RESPCommand {
        WaitForJob(timeout: .seconds(seconds)).command(keys, hash: nil)
    }

    @Test func `the look wakes at the push, once, and leaves the list as it is`() throws {
        let desk = try Desk()
        let one = try desk.redis.anotherClient()
        let two = try desk.redis.anotherClient()
        try one.send(command(desk.keys))
        try two.send(command(desk.keys))
        #expect(!one.hasAnswer(within: 50) && !two.hasAnswer(within: 0))
        try desk.redis.run("RPUSH", "pushfarm:demo", "a", "b", "c")
        for client in [one, two] {
            #expect(client.hasAnswer(within: 2000))
            #expect(try client.receive() == .bulk(Array("a".utf8)))
            #expect(!client.hasAnswer(within: 20))
        }
        #expect(
            try desk.redis.run("LRANGE", "pushfarm:demo", "0", "-1").array?.compactMap(\.text) == [
                "a", "b", "c",
            ])
        // With jobs there, it answers at once.
        #expect(try WaitForJob.result(one.run(command(desk.keys))))
        #expect(try desk.redis.run("LLEN", "pushfarm:demo").integer == 3)
    }

    @Test func `a single job stays where it is`() throws {
        let desk = try Desk()
        let client = try desk.redis.anotherClient()
        try client.send(command(desk.keys))
        #expect(!client.hasAnswer(within: 30))
        try desk.redis.run("RPUSH", "pushfarm:demo", "only")
        #expect(try client.receive() == .bulk(Array("only".utf8)))
        #expect(
            try desk.redis.run("LRANGE", "pushfarm:demo", "0", "-1").array?.compactMap(\.text) == ["only"])
    }

    @Test func `without a job the look ends in time`() throws {
        let desk = try Desk()
        let wait = WaitForJob(timeout: .milliseconds(30))
        let answer = try desk.redis.run(wait.command(desk.keys, hash: nil))
        #expect(try !WaitForJob.result(answer))
    }
}
