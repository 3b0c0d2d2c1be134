import RedisProtocol
import Testing

import class FarmHarness.BlockingRedisClient

@testable import RedisClient
@testable import StoreProtocol

/// One call of a script in a prepared situation.
struct ScriptCase: Sendable, CustomTestStringConvertible {
    enum Reply: Sendable {
        /// A second run gives the same reply.
        case same
        /// A second run gives this reply instead of the first run's reply.
        case other(String)
        /// A second run may give any reply, for example because the reply contains a time.
        case any
        /// The script did a part of the work, and a second run does the next part.
        case next
        /// The script refuses the first run and the second run with this error, and changes nothing.
        case refused(String)

        var changesMore: Bool {
            if case .next = self { true } else { false }
        }

        func allows(_ reply: String, after first: String) -> Bool {
            switch self {
            case .same, .refused: reply == first
            case .other(let other): reply == other
            case .any, .next: true
            }
        }
    }

    let script: Script
    let what: String
    /// The expected reply to a repeated call.
    let again: Reply
    /// Prepares the situation, and returns the call.
    let prepare: @Sendable (StoreFixture) throws -> RESPCommand

    init<Step: Request>(
        _ what: String, again: Reply, _ prepare: @escaping @Sendable (StoreFixture) throws -> Step
    ) {
        guard let script = Step.script else { preconditionFailure("\(Step.self) is no script") }
        (self.script, self.what, self.again) = (script, what, again)
        self.prepare = { fixture in
            let step = try prepare(fixture)
            return step.command(fixture.keys, hash: try fixture.redis.hash(script))
        }
    }

    /// Makes a case of a script that no request type calls. `prepare` returns the number of keys, the keys and the arguments.
    init(
        _ script: Script, _ what: String, again: Reply,
        _ prepare: @escaping @Sendable (StoreFixture) throws -> [String]
    ) {
        (self.script, self.what, self.again) = (script, what, again)
        self.prepare = { fixture in
            let words = try prepare(fixture)
            var command = RESPCommand("EVALSHA")
            command.append(try fixture.redis.hash(script))
            for word in words { command.append(word) }
            return command
        }
    }

    var testDescription: String { "\(script.rawValue): \(what)" }

    /// The ways in which a test runs a script.
    enum Way: CaseIterable {
        case once, twice, replyLost, withoutMemory
    }

    /// The data before and after the call, the reply, and the wake-ups. If the call runs twice, `reply` is the second reply.
    struct Outcome {
        let before: RedisDump
        let reply: String
        let after: RedisDump
        let woken: [String]
    }

    /// - Parameter redis: the Redis for the run. The method first deletes all data in this Redis.
    func run(_ way: Way, on redis: PrivateRedis) throws -> Outcome {
        let fixture = try StoreFixture(on: redis)
        let command = try prepare(fixture)
        let before = try RedisDump(fixture.redis)
        let subscriber = try fixture.redis.anotherClient()
        _ = try subscriber.run(RESPCommand("SUBSCRIBE", "{pushfarm:demo}:wakeups"))
        switch way {
        case .once: break
        case .twice: try fixture.redis.run(command)
        case .replyLost:
            let other = try fixture.redis.anotherClient()
            try other.send(command)
            #expect(other.hasReply(within: 20_000))
        case .withoutMemory: try fixture.redis.run("CONFIG", "SET", "maxmemory", "1")
        }
        let reply = try fixture.redis.run(command)
        let after = try RedisDump(fixture.redis, since: before)
        if way == .withoutMemory { try fixture.redis.run("CONFIG", "SET", "maxmemory", "0") }
        try fixture.redis.run("PUBLISH", "{pushfarm:demo}:wakeups", "end")
        var woken: [String] = []
        while let word = try subscriber.receive().array?.last?.text, word != "end" { woken.append(word) }
        return Outcome(before: before, reply: after.text(reply), after: after, woken: woken.sorted())
    }
}
