import FarmHarness
import Foundation
import Testing

/// `pushfarm find` shows the state and the history of a push.
@Suite(.startsProcesses) struct FindTests {
    private func findings(_ farm: Farm, _ arguments: String...) async throws -> [[String: Any]] {
        let result = try await farm.run(
            ["find"] + arguments + ["--json", "--config", farm.folder.path + "/pushfarm.yaml"])
        #expect(result.status <= 1, "\(result)")
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        let found = (object as? [String: Any])?["findings"] as? [[String: Any]]
        return try #require(found, "\(result)")
    }

    private func places(_ findings: [[String: Any]]) -> Set<String> {
        Set(findings.compactMap { $0["place"] as? String })
    }

    @Test func `find shows an open push by token and by apns-id, and a finished push from the audit`()
        async throws
    {
        var options = Farm.Options()
        options.appLines = ["audit: { megabytes: 4 }", "request_timeout: 60"]
        let farm = try await Farm(options)
        // Before the gateway's first response a connection has only one stream. So the test first delivers a job.
        try farm.push([Job(id: "first", tokens: Tokens.make(200, seed: 3))])
        _ = try await farm.finished("first")
        try farm.gateway.control("silence 1")
        let tokens = Tokens.make(50)
        let late = Int(Date().timeIntervalSince1970) + 3600
        try farm.push([
            Job(id: "now", tokens: tokens),
            Job(id: "later", tokens: Array(tokens.prefix(2)), fields: #""deliver_at":\#(late)"#),
        ])
        try await farm.gateway.requests(250)
        let flying = try await findings(farm, "--token", tokens[0])
        #expect(places(flying) == ["in flight", "delayed"], "\(flying)")
        let inAir = try #require(flying.first { $0["place"] as? String == "in flight" })
        #expect(inAir["job"] as? String == "now" && (inAir["worker"] as? String)?.isEmpty == false)
        #expect(inAir["sent"] as? String == "maybe")
        let delayed = try #require(flying.first { $0["place"] as? String == "delayed" })
        #expect(delayed["job"] as? String == "later" && delayed["at"] as? Int == late * 1000)
        #expect(try await findings(farm, "--token", Tokens.make(1, seed: 77)[0]).isEmpty)

        let id = try #require(try farm.gateway.ledger().ids[tokens[7]]?.first)
        let byID = try await findings(farm, "--apns-id", id)
        #expect(byID.count == 1 && byID[0]["token"] as? String == tokens[7], "\(byID)")

        try farm.gateway.control("calm")
        try farm.gateway.control("cut now")
        #expect(try await farm.finished("now").delivered == 50)
        let done = try await findings(farm, "--apns-id", id)
        #expect(places(done) == ["audit"], "\(done)")
        #expect(
            done.contains { $0["outcome"] as? String == "delivered" && $0["job"] as? String == "now" })
        #expect(done.contains { $0["outcome"] as? String == "retried" })
        let bytes = try farm.redis.client().run("MEMORY", "USAGE", "{pushfarm:demo}:audit").integer ?? 0
        #expect((1...100_000).contains(bytes))

        // `find` must show the other records although it cannot read this record.
        try farm.redis.client().run("XADD", "{pushfarm:demo}:audit", "*", "a", "?")
        let rest = try await farm.run("find", "--apns-id", id)
        #expect(rest.status == 0 && rest.output.contains("outcome delivered"), "\(rest)")
        #expect(rest.error.contains("1 records of the audit cannot be read"), "\(rest)")
    }

    @Test
    func `the audit stays within its limit, and find shows invalid tokens and dead letters without it`()
        async throws
    {
        var options = Farm.Options()
        options.appLines = ["audit: { megabytes: 1 }"]
        let farm = try await Farm(options)
        let (dead, tokens) = (Tokens.make(1, start: "dead0000"), Tokens.make(200_000, seed: 5))
        try farm.push(Job.several("many", tokens, size: 20_000))
        _ = try await farm.finished(Job.several("many", tokens, size: 20_000))
        let redis = try farm.redis.client()
        let bytes = try redis.run("MEMORY", "USAGE", "{pushfarm:demo}:audit", "SAMPLES", "0").integer ?? 0
        #expect((500_000...1_300_000).contains(bytes), "\(bytes)")
        let sum =
            try redis.run("HGET", "{pushfarm:demo}:dead_letter_counts", "audit").text.flatMap { Int($0) } ?? 0
        #expect((500_000...1_048_576).contains(sum))

        try farm.gateway.control("answer 400 reason=BadExpirationDate")
        try farm.push([Job(id: "bad", tokens: [tokens[3]])])
        _ = try await farm.finished("bad")
        try farm.gateway.control("calm")
        try farm.push([Job(id: "dying", tokens: dead)])
        _ = try await farm.finished("dying")
        #expect(
            places(try await findings(farm, "--token", tokens[3])).isSuperset(of: ["dead letter", "event"]))
        #expect(
            places(try await findings(farm, "--token", dead[0])).isSuperset(of: ["suppressed", "event"]))

        try farm.push("{\"id\":\"broken\",\"tokens\":1}")
        _ = try await farm.event("job.refused")
        let job = try await farm.run("find", "--job", "bad", "--json")
        #expect(job.status == 0 && job.output.contains(#""dead_letters":{"BadExpirationDate":1}"#), "\(job)")
        let broken = try await farm.run("find", "--job", "broken")
        #expect(broken.status == 0 && broken.output.contains("refused"), "\(broken)")
        #expect(try await farm.run("find", "--job", "nobody").status == 1)
        #expect(try await farm.run("find").status == 2)
        #expect(try await farm.run("find", "--apns-id", "x").status == 2)
    }
}
