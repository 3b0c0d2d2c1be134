import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// Cases of an app with stored devices: invalid tokens become device inputs.
extension ScriptCase {
    static let invalidTokens = [
        ScriptCase("reports unregistered tokens to the registry", again: .other("[0, 0]")) { fixture in
            try fixture.makeRegistry()
            return try one(fixture, responses: 3) {
                $0.invalidTokens = [
                    StoreFixture.dead([1, 0xAB], .unregistered), StoreFixture.dead([1, 2]),
                    StoreFixture.dead([1, 3], .deviceTokenNotForTopic),
                ]
            }
        },
        ScriptCase("reports a screening's bad tokens to the registry", again: .other("[0, 0]")) { fixture in
            try fixture.makeRegistry()
            return try one(fixture, responses: 0) { $0.screen([StoreFixture.dead([3, 1])], of: 1) }
        },
        ScriptCase("reports bad tokens that the guard can no longer withdraw", again: .other("[0, 0]")) {
            fixture in
            let settle = try guarded(fixture, bad: 2)
            try fixture.makeRegistry()
            try fixture.redis.run("HSET", "{pushfarm:demo}:guard", "answers", "1000", "bad", "0.6")
            try fixture.perform(settle)
            return try one(fixture, responses: 700) { _ in }
        },
        ScriptCase("reports the last bad tokens", again: .other("[0, 0]")) { fixture in
            try fixture.perform(guarded(fixture, bad: 2))
            try fixture.makeRegistry()
            return try one(fixture, responses: 999) { _ in }
        },
        ScriptCase("reports no token that the guard withdraws", again: .other("[0, 0]")) { fixture in
            try fixture.makeRegistry()
            return try guarded(fixture, bad: 950)
        },
        ScriptCase("reports confirmed tokens to the registry", again: .other("[0, 0]")) { fixture in
            try fixture.makeRegistry()
            try fixture.perform(guarded(fixture, bad: 201))
            return ResolveUnconfirmed(.confirm)
        },
        ScriptCase("reports tokens of the feedback service to the registry", again: .other("0")) { fixture in
            try fixture.makeRegistry()
            return Suppress(
                [
                    .init(shard: 2, record: StoreFixture.dead([1, 2], .operator).record!),
                    .init(shard: 0, record: StoreFixture.dead([9, 9], .feedback).record!),
                ], scopes: [StoreFixture.scope], writer: "r1", step: 1)
        },
        ScriptCase("reports no token to a key of the wrong type", again: .other("0")) { fixture in
            try fixture.makeRegistry()
            try fixture.run(["SET", "{pushfarm:demo}:devices", "x"])
            return Suppress(
                [.init(shard: 0, record: StoreFixture.dead([9, 9], .feedback).record!)],
                scopes: [StoreFixture.scope], writer: "r1", step: 1)
        },
    ]
}

extension StoreFixture {
    /// Makes the app have stored devices.
    func makeRegistry() throws { try run(["HSET", "{pushfarm:demo}:registry", "partitions", "16"]) }
}
