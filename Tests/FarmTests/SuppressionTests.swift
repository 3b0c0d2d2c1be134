import FarmHarness
import Foundation
import RedisProtocol
import Testing

/// Suppression of invalid tokens, measured at the gateway. The gateway never gets suppressed pushes.
@Suite(.startsProcesses) struct SuppressionTests {
    private static let good = Tokens.make(200)
    private static let bad = Tokens.make(20, start: "bad00000", seed: 2)
    private static let wrongTopic = Tokens.make(5, start: "bad10000", seed: 3)
    /// Tokens that are unregistered since the time 1700000000.
    private static let unregistered = Tokens.make(15, start: "dead00016553f100", seed: 4)
    private static let expired = Tokens.make(5, start: "fade0000", seed: 5)
    private static let dead = bad + wrongTopic + unregistered + expired

    @Test func `invalid tokens are suppressed in later jobs, also after workers and Redis restart`()
        async throws
    {
        let farm = try await Farm()
        let tokens = Self.good + Self.dead
        try farm.push([Job(id: "first", tokens: tokens)])
        #expect(try await farm.finished("first").failed == Self.dead.count)

        func again(_ id: String) async throws {
            try farm.push([Job(id: id, tokens: tokens)])
            let jobRecord = try await farm.finished(id)
            #expect(jobRecord.delivered == Self.good.count)
            #expect(jobRecord.reasons == ["suppressed": Self.dead.count], "\(id)")
            let requests = try farm.gateway.ledger().requests
            #expect(Self.dead.allSatisfy { requests[$0] == 1 }, "\(id): one went out again")
        }
        try await again("second")
        let events = try farm.events("push.failed").filter { $0["job"] == "second" }
        #expect(Set(events.compactMap { $0["token"] }) == Set(Self.dead))
        #expect(
            Set(events.compactMap { $0["cause"] }) == [
                "BadDeviceToken", "DeviceTokenNotForTopic", "Unregistered", "ExpiredToken",
            ])
        #expect(events.allSatisfy { $0["reason"] == "suppressed" })
        #expect(try farm.events("token.invalid").count == Self.dead.count, "nobody is told twice")

        for worker in farm.workers { farm.kill(worker: worker) }
        try await again("after workers were killed")
        try await farm.redis.crash()
        try await again("after Redis was killed")
        farm.coordinator.signal(SIGTERM)
        _ = try await farm.coordinator.wait(within: .seconds(30))
        try farm.restartCoordinator()
        try await again("after the coordinator was restarted")
    }

    @Test func `a later registration ends only a suppression that a 410 caused`() async throws {
        let farm = try await Farm()
        let tokens = [Self.unregistered[0], Self.bad[0]]
        try farm.push([Job(id: "one", tokens: tokens)])
        _ = try await farm.finished("one")
        for (id, registered, passes) in [
            ("before", 1_699_999_999, false), ("same", 1_700_000_000, false),
            ("later", 1_700_000_001, true),
        ] {
            try farm.push([
                Job(id: id, tokens: tokens, fields: #""registered_at":\#(registered)"#)
            ])
            let jobRecord = try await farm.finished(id)
            #expect(jobRecord.reasons["suppressed"] == (passes ? 1 : 2), "\(id)")
            let requests = try farm.gateway.ledger().requests
            #expect(requests[Self.unregistered[0]] == (passes ? 2 : 1), "\(id)")
            #expect(requests[Self.bad[0]] == 1, "\(id)")
        }
    }

    @Test func `a suppression holds for one topic, and other topics get pushes`() async throws {
        let farm = try await Farm()
        let token = Self.unregistered[0]
        try farm.push([Job(id: "app", tokens: [token])])
        _ = try await farm.finished("app")
        try farm.push([
            Job(id: "voip", tokens: [token], fields: #""push_type":"voip""#),
            Job(id: "again", tokens: [token]),
        ])
        #expect(try await farm.finished("voip").reasons["suppressed"] == nil)
        #expect(try await farm.finished("again").reasons == ["suppressed": 1])
    }

    @Test func `operators list, add, remove, export and import suppressed tokens`() async throws {
        let farm = try await Farm()
        let token = Self.good[0]
        #expect(try await farm.run("suppressed", "add", "--token", token, "--json").status == 0)
        try farm.push([Job(id: "added", tokens: Array(Self.good[..<3]))])
        let added = try await farm.finished("added")
        #expect(added.reasons == ["suppressed": 1] && added.delivered == 2)

        let list = try await farm.run("suppressed", "list", "--token", token, "--json")
        #expect(list.output.contains(#""token":"\#(token)","reason":"Operator""#), "\(list)")
        #expect(
            try await farm.run("suppressed", "list", "--token", Self.good[1]).output
                == "no suppressed tokens\n")
        #expect(
            try await farm.run("suppressed", "list", "--token", Self.good[1], "--json").output.isEmpty)

        let file = farm.folder.path + "/dead.txt"
        #expect(try await farm.run("suppressed", "export", "--file", file).status == 0)
        let removed = try await farm.run("suppressed", "remove", "--token", token, Self.good[1])
        #expect(
            removed.status == 0 && removed.output.contains("1 tokens removed; 1 were not"), "\(removed)")
        try farm.push([Job(id: "removed", tokens: [token])])
        #expect(try await farm.finished("removed").delivered == 1)
        #expect(try await farm.run("suppressed", "list").output == "no suppressed tokens\n")

        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.hasPrefix("\(token) Operator 1"))
        let more = try farm.folder.write(
            text
                + "# a remark\n\nno token\n\(Self.good[1]) Unregistered 2023-11-14T22:13:20Z\n\(Self.good[2]) Nonsense\n",
            to: "more.txt")
        let imported = try await farm.run("suppressed", "import", more)
        #expect(imported.status == 1 && imported.output == "2 tokens imported\n", "\(imported)")
        #expect(imported.error.contains("line 4: ") && imported.error.contains("line 6: "))
        try farm.push([Job(id: "imported", tokens: Array(Self.good[..<3]))])
        let jobRecord = try await farm.finished("imported")
        #expect(jobRecord.reasons == ["suppressed": 2] && jobRecord.delivered == 1)
        #expect(try farm.gateway.ledger().requests[token] == 1)
    }

    @Test func `repeated imports do not displace other records`() async throws {
        let farm = try await Farm()
        #expect(try await farm.run("suppressed", "add", "--token", Self.dead[0]).status == 0)
        let plain = try farm.folder.write(
            Tokens.make(1500, seed: 6).joined(separator: "\n") + "\n", to: "plain.txt")
        for _ in 0..<3 {
            let imported = try await farm.run("suppressed", "import", plain)
            #expect(imported.status == 0 && imported.output == "1,500 tokens imported\n", "\(imported)")
        }
        #expect(try farm.suppressionRecords() == 1501)
        let dead = farm.folder.path + "/dead.txt"
        #expect(try await farm.run("suppressed", "export", "--file", dead).status == 0)
        #expect(try await farm.run("suppressed", "import", dead).status == 0)
        #expect(try farm.suppressionRecords() == 1501)
        let list = try await farm.run("suppressed", "list", "--token", Self.dead[0])
        #expect(list.output.contains(" Operator "), "\(list)")
    }

    @Test func `responses do not weaken an operator's suppression`() async throws {
        let farm = try await Farm()
        let token = Self.good[0]
        #expect(try await farm.run("suppressed", "add", "--token", token).status == 0)
        let redis = try farm.redis.client()
        let key = try #require(try farm.suppressionLists().first)
        let entry = try redis.run("XRANGE", key, "-", "+").array?.first?.array?.last?.array?.last?.bytes
        var command = RESPCommand("XADD", key, "*", "r")
        command.append([UInt8(ascii: "F")] + (try #require(entry)).dropFirst())
        try redis.run(command)
        #expect(try farm.suppressionRecords() == 2)
        let list = try await farm.run("suppressed", "list", "--token", token)
        #expect(list.output.contains(" Operator "), "\(list)")
    }

    @Test func `commands refuse unknown words, tokens and apps and write nothing`() async throws {
        let farm = try await Farm()
        let token = Self.good[0]
        let wrong = [
            ["add", "--token", token, "--topic", "two words"],
            ["add", "--token", token, "--environment", ""],
            ["add", "--token", token, "nonsense"], ["add", "--token", token, "--reason", "Nonsense"],
            ["add", "--token", token, "--app", "nobody"], ["add"],
            ["remove", "--token", "nonsense"], ["list", "--token", "nonsense"],
            ["list", "--environment", "two words"], ["import", "/nowhere"],
            ["export", "--file", "/nowhere/dead.txt"],
        ]
        for arguments in wrong {
            let file = farm.folder.path + "/pushfarm.yaml"
            let result = try await farm.run(["suppressed"] + arguments + ["--config", file])
            #expect(
                result.status == 2 && result.output.isEmpty && !result.error.isEmpty,
                "\(arguments): \(result)")
        }
        #expect(try await farm.run("suppressed", "list").output == "no suppressed tokens\n")

        let file = try farm.folder.write(
            "\(token) BadDeviceToken 17 other place\n\(Self.good[1]) and more than five words of remark\n",
            to: "file.txt")
        let added = try await farm.run("suppressed", "add", "--tokens-file", file, "--topic", "-")
        #expect(added.status == 0 && added.output == "2 tokens suppressed\n", "\(added)")
        let list = try await farm.run("suppressed", "list", "--topic", "-").output.split(separator: "\n")
        #expect(list.count == 2 && list.allSatisfy { $0.contains(" Operator ") }, "\(list)")
    }

    /// A list of valid tokens and `bad` invalid tokens, mixed.
    private static func mixed(bad: Int, of count: Int) -> [String] {
        (Tokens.make(count - bad, seed: 20) + Tokens.make(bad, start: "bad00000", seed: 21))
            .sorted { $0.suffix(16) < $1.suffix(16) }
    }

    @Test func `a bulk job to the wrong environment is paused, and none of its tokens are suppressed`()
        async throws
    {
        // The rate is so low that some tokens are unsent when the guard pauses the app.
        let farm = try await Farm(Farm.Options(appLines: ["budget: {max_rate: 2000}"]))
        let bad = Tokens.make(5_000, start: "bad00000", seed: 9)
        // Three invalid tokens among ten responses are too few to indicate a wrong environment.
        try farm.push([Job(id: "test", tokens: Array(bad[..<3]) + Self.good[..<7])])
        #expect(try await farm.finished("test").delivered == 7)
        try farm.push([Job(id: "campaign", tokens: Array(bad[3...]))])
        let event = try await farm.event("app.paused")
        #expect(event["reason"]?.contains("other environment") == true, "\(event)")
        try await eventually("the log tells why") {
            farm.coordinator.error.contains("too many invalid tokens")
        }
        try await eventually("what was in flight is settled") {
            try await farm.jobRecord("campaign")?.inFlight == 0
        }
        #expect(try #require(await farm.jobRecord("campaign")).state == "open")
        let list = try await farm.run("suppressed", "list")
        #expect(list.output == "no suppressed tokens\n", "\(list.output.prefix(400))")
        let kept = try await farm.run("suppressed", "confirm", "--dry-run", "--json")
        #expect(kept.output.contains(#""applied":0"#), "\(kept)")
    }

    @Test
    func `a bulk job with many invalid tokens continues, and an operator must confirm suppressions`()
        async throws
    {
        let farm = try await Farm()
        let tokens = Self.mixed(bad: 1_500, of: 5_000)
        try farm.push([Job(id: "old", tokens: tokens)])
        let jobRecord = try await farm.finished("old")
        #expect(jobRecord.delivered == 3_500 && jobRecord.reasons == ["BadDeviceToken": 1_500])
        #expect(try farm.events("app.paused").isEmpty)
        let redis = try farm.redis.client()
        let alert = "bad_tokens app demo "
        try await eventually("the alert fires") {
            try redis.run("HEXISTS", "{pushfarm}:active_alerts", alert).integer == 1
        }
        let status = try await farm.run("status")
        #expect(status.status == 1 && status.output.contains("pushfarm suppressed confirm"), "\(status)")
        let waiting = try #require(try redis.run("LLEN", "{pushfarm:demo}:unconfirmed").integer)
        #expect(waiting > 1_000)
        // No token is suppressed until an operator confirms.
        let dry = try await farm.run("suppressed", "confirm", "--dry-run")
        #expect(dry.output.contains("would be applied"), "\(dry)")
        #expect(try redis.run("LLEN", "{pushfarm:demo}:unconfirmed").integer == waiting)
        let confirmed = try await farm.run("suppressed", "confirm", "--json")
        #expect(
            confirmed.status == 0 && confirmed.output.contains(#""applied":\#(waiting)"#), "\(confirmed)")
        try await eventually("the alert clears") {
            try redis.run("HEXISTS", "{pushfarm}:active_alerts", alert).integer == 0
        }
        let bad = tokens.filter { $0.hasPrefix("bad00000") }
        let list = try await farm.run("suppressed", "list")
        #expect(Set(list.output.split(separator: "\n").map { String($0.prefix(64)) }) == Set(bad))
        try farm.push([Job(id: "again", tokens: tokens)])
        let again = try await farm.finished("again")
        #expect(again.delivered == 3_500 && again.reasons == ["suppressed": 1_500])
    }

    @Test func `unconfirmed suppressions apply when the share of invalid tokens has fallen`() async throws {
        let farm = try await Farm()
        let tokens = Self.mixed(bad: 1_500, of: 5_000)
        try farm.push([Job(id: "old", tokens: tokens)])
        #expect(try await farm.finished("old").reasons == ["BadDeviceToken": 1_500])
        let redis = try farm.redis.client()
        #expect(try #require(redis.run("LLEN", "{pushfarm:demo}:unconfirmed").integer) > 1_000)
        try farm.push([Job(id: "new", tokens: Tokens.make(3_000, seed: 40))])
        #expect(try await farm.finished("new").delivered == 3_000)
        try await eventually("nothing waits any more") {
            try redis.run("LLEN", "{pushfarm:demo}:unconfirmed").integer == 0
        }
        let bad = tokens.filter { $0.hasPrefix("bad00000") }
        let list = try await farm.run("suppressed", "list")
        #expect(Set(list.output.split(separator: "\n").map { String($0.prefix(64)) }) == Set(bad))
    }

    @Test func `the guard's two limits for the share of invalid tokens are configurable`()
        async throws
    {
        let farm = try await Farm(
            Farm.Options(appLines: ["suppression: { hold_share: 50, pause_share: 60 }"]))
        try farm.push([Job(id: "old", tokens: Self.mixed(bad: 900, of: 3_000))])
        #expect(try await farm.finished("old").reasons == ["BadDeviceToken": 900])
        let redis = try farm.redis.client()
        #expect(try redis.run("EXISTS", "{pushfarm:demo}:unconfirmed").integer == 0)
        #expect(try await farm.run("suppressed", "list").output.split(separator: "\n").count == 900)
        let worse = Tokens.make(600, seed: 41) + Tokens.make(2_400, start: "bad00000", seed: 42)
        try farm.push([Job(id: "worse", tokens: worse.sorted { $0.suffix(16) < $1.suffix(16) })])
        let event = try await farm.event("app.paused")
        #expect(event["reason"]?.contains("other environment") == true, "\(event)")
    }
}
