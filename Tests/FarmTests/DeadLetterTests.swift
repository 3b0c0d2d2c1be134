import FarmHarness
import Foundation
import Testing

/// Dead letters: the farm keeps pushes that fail although their token is valid, and a replay sends each dead letter once.
@Suite(.startsProcesses) struct DeadLetterTests {
    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    private func letters(_ farm: Farm) throws -> [[String: String]] {
        try farm.redis.client().run("XRANGE", "{pushfarm:demo}:dead_letters", "-", "+").entries
    }

    private func pushes(_ farm: Farm) throws -> Int {
        try letters(farm).reduce(0) { $0 + Int($1["n"] ?? "0")! }
    }

    /// The farm's count of dead letters. The test reads this count, because reading all dead letters would take long.
    private func sum(_ farm: Farm) throws -> Int {
        try farm.redis.client().run("HGET", "{pushfarm:demo}:dead_letter_counts", "pushes").text.flatMap {
            Int($0)
        }
            ?? 0
    }

    @Test func `failed pushes are kept with payload, and a replay delivers each push once`() async throws {
        let farm = try await Farm()
        let (good, dead) = (Tokens.make(600), Tokens.make(20, start: "dead0000"))
        try farm.gateway.control("answer 400 reason=PayloadTooLarge share=0.5")
        let jobs = [
            Job(id: "big", tokens: good + dead, fields: #""collapse_id":"c","receipts":"none""#),
            Job(id: "own", tokens: [], fields: ""),
        ]
        try farm.push(jobs[0].text)
        let pairs = good.enumerated().map { number, token in
            #"{"token":"\#(token)","payload":{"aps":{"badge":\#(number)}}}"#
        }
        try farm.push(#"{"id":"own","pushes":[\#(pairs.joined(separator: ","))],"lane":"bulk"}"#)
        let (big, own) = (try await farm.finished("big"), try await farm.finished("own"))
        let failed = [big, own].map { $0.reasons["PayloadTooLarge"] ?? 0 }
        #expect(failed.allSatisfy { (100...599).contains($0) }, "\(failed)")
        #expect(try pushes(farm) == failed.reduce(0, +), "what fails for its token is not kept")
        // A report has one record of dead letters for each job and reason, not one for each token.
        #expect(try letters(farm).count < failed.reduce(0, +) / 3)

        let list = try json(try await farm.run("dead", "list", "--json").output)
        let reasons = try #require(list["reasons"] as? [[String: Any]])
        #expect(reasons.count == 1 && reasons[0]["pushes"] as? Int == failed.reduce(0, +))
        #expect(reasons[0]["jobs"] as? Int == 2)

        try farm.gateway.control("calm")
        let dry = try await farm.run("replay", "--job", "big", "--dry-run", "--json")
        #expect(dry.status == 0)
        #expect(try json(dry.output)["pushes"] as? Int == failed[0])
        #expect(try pushes(farm) == failed.reduce(0, +), "a dry run takes nothing")
        let one = try await farm.run("replay", "--job", "big", "--id", "once", "--json")
        #expect(one.status == 0, "\(one)")
        #expect(try json(one.output)["apps"].debugDescription.contains("big.r1"))
        let again = try await farm.run("replay", "--job", "big", "--id", "once", "--json")
        #expect(try json(again.output)["pushes"] as? Int == 0)
        #expect(try json(again.output)["done_before"] as? Int == failed[0])
        let other = try await farm.run("replay", "--job", "own", "--id", "once")
        #expect(other.status == 2 && other.error.contains("another --id"), "\(other)")
        #expect(try await farm.run("replay", "--reason", "PayloadTooLarge").status == 0)

        let replayed = try await farm.finished("big.r1")
        #expect(replayed.accepted == failed[0])
        // Some replayed pushes may have an unregistered token: their first attempt failed before the gateway checked the token.
        #expect(replayed.failed == replayed.reasons["Unregistered"] ?? 0 && replayed.failed <= dead.count)
        #expect(try await farm.finished("own.r1").delivered == failed[1])
        let jobRecord = try farm.redis.client().run("HGETALL", "{pushfarm:demo}:job:big.r1").fields
        #expect(jobRecord["replay_of"] == "big")
        #expect(try await farm.jobRecord("big")?.failed == big.failed, "old counters stay")
        #expect(try letters(farm).isEmpty)
        let ledger = try farm.gateway.ledger()
        // Each token got two pushes: one of each job. If a job's own push failed, the push of the job's replay counts.
        #expect(good.allSatisfy { ledger.deliveries[$0] == 2 })
        #expect(ledger.lines.filter { $0.status == 200 && $0.collapseId == "c" }.count == 600)
        #expect(
            Set(ledger.lines.filter { $0.status == 200 && $0.collapseId == nil }.map(\.bodySha256)).count
                == 600,
            "each device gets its own payload")
    }

    @Test func `commands show, export and drop dead letters, and their number is limited`() async throws {
        var options = Farm.Options()
        options.appLines = ["dead_letters: { pushes: 40 }"]
        options.faults = ["answer 413 reason=PayloadTooLarge"]
        let farm = try await Farm(options)
        let tokens = Tokens.make(30)
        try farm.push([Job(id: "a", tokens: tokens), Job(id: "b", tokens: Array(tokens.prefix(20)))])
        _ = try await (farm.finished("a"), farm.finished("b"))
        let kept = try pushes(farm)
        #expect((1...40).contains(kept))
        let list = try json(try await farm.run("dead", "list", "--json").output)
        let apps = try #require(list["apps"] as? [[String: Any]])
        #expect(apps[0]["pushes"] as? Int == kept && apps[0]["trimmed"] as? Int == 50 - kept)

        let named = try json(try await farm.run("dead", "list", "--letters", "--json").output)
        let first = try #require((named["dead_letters"] as? [[String: Any]])?.first)
        let id = try #require(first["id"] as? String)
        let shown = try json(try await farm.run("dead", "show", id, "--json").output)
        #expect(shown["reason"] as? String == "PayloadTooLarge" && shown["status"] as? Int == 413)
        let pushes = try #require(shown["pushes"] as? [[String: Any]])
        #expect(pushes.count == first["pushes"] as? Int)
        #expect(tokens.contains(try #require(pushes[0]["token"] as? String)))
        #expect((pushes[0]["payload"] as? [String: Any])?["aps"] != nil)
        #expect(try await farm.run("dead", "show", "5-5").status == 1)
        #expect(try await farm.run("dead", "show", "nonsense").status == 2)

        let file = farm.folder.path + "/letters.jsonl"
        #expect(try await farm.run("dead", "export", file).status == 0)
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == kept)
        for line in lines { #expect(try json(String(line))["reason"] as? String == "PayloadTooLarge") }

        #expect(try await farm.run("dead", "drop").status == 2, "what is dropped has to be said")
        let dropped = try await farm.run("dead", "drop", id, "--json")
        #expect(try json(dropped.output)["pushes"] as? Int == pushes.count)
        #expect(try await farm.run("dead", "drop", id, "--json").status == 0, "twice is as once")
        #expect(try await farm.run("dead", "drop", "--all").status == 0)
        #expect(try letters(farm).isEmpty)
    }

    @Test func `a replay delivers each dead letter once, under load and after repeated kills`()
        async throws
    {
        let farm = try await Farm()
        let tokens = Tokens.make(40_000)
        try farm.gateway.control("answer 400 reason=BadExpirationDate share=0.25")
        let jobs = Job.several("load", tokens, size: 2000)
        try farm.push(jobs)
        let failed = try await farm.finished(jobs).failed
        #expect(failed > 5000)
        #expect(try pushes(farm) == failed, "each of them is in one letter")
        try farm.gateway.control("calm")

        // During the replay the farm delivers other jobs, and the test kills the command.
        let others = Tokens.make(20_000, seed: 2)
        let more = Job.several("more", others, size: 1000)
        try farm.push(more)
        func arguments(rate: Int) -> [String] {
            [
                "replay", "--reason", "BadExpirationDate", "--id", "load", "--rate", "\(rate)",
                "--config",
                farm.folder.path + "/pushfarm.yaml",
            ]
        }
        for round in 1...3 {
            let left = try sum(farm)
            // The replay is slow, so it is far from its end when the test kills the command.
            let command = try Child(
                "replay-\(round)", BuiltProgram.path, arguments(rate: 200), in: farm.folder.path)
            try await eventually("some are put in") { try sum(farm) < left || command.hasEnded }
            command.signal(SIGKILL)
            _ = try await command.wait()
        }
        let between = try sum(farm)
        let two = try (
            Child("replay-a", BuiltProgram.path, arguments(rate: 2_000), in: farm.folder.path),
            Child("replay-b", BuiltProgram.path, arguments(rate: 2_000), in: farm.folder.path)
        )
        _ = try await (two.0.wait(), two.1.wait())
        #expect(try await farm.run(arguments(rate: 2_000)).status == 0)
        #expect(between > 0)
        #expect(try sum(farm) == 0)
        try await eventually("all of them have come", within: .seconds(60)) {
            try farm.gateway.ledger().lost(of: tokens + others) == 0
        }
        _ = try await farm.finished(more)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0 && ledger.lost(of: others) == 0)
        #expect(ledger.doubles == 0)
    }

    @Test func `a replay skips possibly delivered pushes, expired pushes and poison`()
        async throws
    {
        var options = Farm.Options()
        options.faults = ["silence 1"]
        options.appLines = ["request_timeout: 1"]
        let farm = try await Farm(options)
        let tokens = Tokens.make(5)
        try farm.push([Job(id: "once", tokens: tokens, fields: #""delivery":"at-most-once""#)])
        let jobRecord = try await farm.finished("once")
        #expect(jobRecord.reasons == ["unknown": 5])
        try farm.gateway.control("calm")
        let left = try await farm.run("replay", "--job", "once", "--json")
        #expect(left.status == 3 && left.output.contains(#""unknown":5"#), "\(left)")
        #expect(try await farm.run("replay", "--job", "once", "--even-unknown").status == 0)
        #expect(try await farm.finished("once.r1").delivered == 5)

        try farm.gateway.control("answer 400 reason=BadPriority")
        let soon = Int(Date().timeIntervalSince1970) + 6
        try farm.push([Job(id: "late", tokens: tokens, fields: #""expires_at":\#(soon)"#)])
        #expect(try await farm.finished("late").reasons == ["BadPriority": 5])
        try farm.gateway.control("calm")
        try await eventually("it is too late") { Date().timeIntervalSince1970 > Double(soon + 1) }
        let late = try await farm.run("replay", "--reason", "BadPriority", "--json")
        #expect(late.status == 3 && late.output.contains(#""expired":5"#), "\(late)")
        #expect(try await farm.run("replay", "--reason", "BadPriority", "--ttl", "600").status == 0)
        #expect(try await farm.finished("late.r1").delivered == 5)

        // The command distinguishes a job without dead letters from an unknown job.
        let none = try await farm.run("replay", "--job", "late")
        #expect(none.status == 0 && none.output == "no dead letters match\n", "\(none)")
        for arguments in [["replay"], ["dead", "drop"]] {
            let unknown = try await farm.run(
                arguments + ["--job", "nosuch", "--config", farm.folder.path + "/pushfarm.yaml"])
            #expect(unknown.status == 2 && unknown.output.isEmpty, "\(unknown)")
            #expect(unknown.error == "pushfarm: there is no job nosuch in demo\n", "\(unknown)")
        }
    }
}
