import RedisProtocol
import Testing

import class FarmHarness.BlockingRedisClient

@testable import RedisClient
@testable import StoreProtocol

/// One call of a script in a situation that is made for it.
struct ScriptCase: Sendable, CustomTestStringConvertible {
    enum Answer: Sendable {
        /// Running it again answers the same.
        case same
        /// Running it again answers this.
        case other(String)
        /// The answer has more than what was done.
        case any
        /// It did a part of what is to be done; running it again does the next one.
        case next
        /// It is refused with this, each time, and nothing changes.
        case refused(String)

        var changesMore: Bool {
            if case .next = self { true } else { false }
        }

        func allows(_ answer: String, after first: String) -> Bool {
            switch self {
            case .same, .refused: answer == first
            case .other(let other): answer == other
            case .any, .next: true
            }
        }
    }

    let script: Script
    let what: String
    /// The answer to the same call once more.
    let again: Answer
    /// Makes the situation, and the call.
    let prepare: @Sendable (StoreFixture) throws -> RESPCommand

    init<Step: Request>(
        _ what: String, again: Answer, _ prepare: @escaping @Sendable (StoreFixture) throws -> Step
    ) {
        guard let script = Step.script else { preconditionFailure("\(Step.self) is no script") }
        (self.script, self.what, self.again) = (script, what, again)
        self.prepare = { fixture in
            let step = try prepare(fixture)
            return step.command(fixture.keys, hash: try fixture.redis.hash(script))
        }
    }

    /// A script of the farm: the number of its keys, keys, arguments.
    init(
        _ script: Script, _ what: String, again: Answer,
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

    /// How a script may come to be run.
    enum Way: CaseIterable {
        case once, twice, replyLost, withoutMemory
    }

    /// What there was before, what it answered last, what there is then, and what it rang.
    struct Outcome {
        let before: RedisDump
        let answer: String
        let after: RedisDump
        let woken: [String]
    }

    /// - Parameter redis: what is in it goes.
    func run(_ way: Way, on redis: PrivateRedis) throws -> Outcome {
        let fixture = try StoreFixture(on: redis)
        let command = try prepare(fixture)
        let before = try RedisDump(fixture.redis)
        let bell = try fixture.redis.anotherClient()
        _ = try bell.run(RESPCommand("SUBSCRIBE", "{pushfarm:demo}:wakeups"))
        switch way {
        case .once: break
        case .twice: try fixture.redis.run(command)
        case .replyLost:
            let other = try fixture.redis.anotherClient()
            try other.send(command)
            #expect(other.hasReply(within: 20_000))
        case .withoutMemory: try fixture.redis.run("CONFIG", "SET", "maxmemory", "1")
        }
        let answer = try fixture.redis.run(command)
        let after = try RedisDump(fixture.redis, since: before)
        if way == .withoutMemory { try fixture.redis.run("CONFIG", "SET", "maxmemory", "0") }
        try fixture.redis.run("PUBLISH", "{pushfarm:demo}:wakeups", "end")
        var woken: [String] = []
        while let word = try bell.receive().array?.last?.text, word != "end" { woken.append(word) }
        return Outcome(before: before, answer: after.text(answer), after: after, woken: woken.sorted())
    }
}
