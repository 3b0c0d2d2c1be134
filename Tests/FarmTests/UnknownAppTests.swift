import FarmHarness
import Foundation
import RedisProtocol
import Testing

/// Jobs for an app that is not configured, for example because its name is misspelt.
@Suite(.startsProcesses(limit: .seconds(300))) struct UnknownAppTests {
    private static func submit(_ farm: Farm, _ app: String, _ id: String) throws -> [String] {
        let job = Job(id: id, tokens: Tokens.make(1)).text
        return try farm.redis.client().run("FCALL", "pushfarm_submit", "1", "pushfarm:\(app)", job, id)
            .array?
            .map { $0.text ?? "\($0.integer ?? 0)" } ?? []
    }

    @Test func `a producer learns at once that its app is misspelt`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        #expect(
            try Self.submit(farm, "dmeo", "a") == [
                "REFUSED", "0", #"unknown app "dmeo"; did you mean "demo"?"#,
            ])
        #expect(try Self.submit(farm, "demo", "b").first == "OK")
        #expect(try await farm.finished("b").delivered == 1)
    }

    @Test func `the farm registers its apps again in a flushed Redis`() async throws {
        let farm = try await Farm()
        _ = try await farm.ready()
        try farm.redis.client().run("FLUSHALL")
        try await eventually("the app is known") { try Self.submit(farm, "demo", "a").first != "REFUSED" }
        try await eventually("the farm is initialised, and lists its app") {
            try farm.redis.client().run("SMEMBERS", "{pushfarm}:apps").array?.map(\.text) == ["demo"]
                && farm.redis.client().run("HEXISTS", "{pushfarm}:farm", "shards").integer == 1
        }
    }

    @Test func `an app that a reload removes is unknown to producers until a reload adds it`()
        async throws
    {
        let farm = try await Farm(
            Farm.Options(apps: { started, _ in [App(started), App(started, name: "second")] }))
        _ = try await farm.ready()
        #expect(try Self.submit(farm, "second", "a").first == "OK")
        #expect(try await farm.finished("a", app: "second").delivered == 1)
        let file = farm.folder.path + "/pushfarm.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let cut = try #require(text.range(of: "  second:"))
        try farm.folder.write(String(text[..<cut.lowerBound]), to: "pushfarm.yaml")
        #expect(try await farm.run("reload", "all").status == 0)
        try await eventually("the app is unknown") {
            try Self.submit(farm, "second", "a").first == "REFUSED"
        }
        #expect(try Self.submit(farm, "demo", "c").first == "OK")
        try farm.folder.write(text, to: "pushfarm.yaml")
        #expect(try await farm.run("reload", "all").status == 0)
        try await eventually("the app is known again") {
            try Self.submit(farm, "second", "d").first == "OK"
        }
        #expect(try await farm.finished("d", app: "second").delivered == 1)
    }

    @Test func `jobs in the inbox of a misspelt app are reported until they are removed`() async throws {
        let farm = try await Farm(Farm.Options(lines: [MetricsTests.listen]))
        _ = try await farm.ready()
        let client = try farm.redis.client()
        // Inboxes of configured apps and lists that are not inboxes do not count as stray inboxes.
        try client.run("RPUSH", "elsewhere:dmeo", "x")
        try client.run("SET", "pushfarm:text", "x")
        for _ in 0..<3 {
            try client.run("RPUSH", "pushfarm:dmeo", Job(id: "x", tokens: Tokens.make(1)).text)
        }
        let words =
            #"inbox pushfarm:dmeo holds 3 jobs, and no running coordinator has an app "dmeo"; did you mean "demo"?"#
        try await eventually("the status has it") {
            let status = try await farm.run("status", "--json")
            return status.status == 1 && status.output.contains("pushfarm:dmeo holds 3 jobs")
        }
        let status = try await farm.run("status")
        #expect(status.status == 1 && status.output.contains(words), "\(status)")
        #expect(try farm.scrape().sum("pushfarm_stray_inboxes") == 1)
        #expect(try farm.scrape().sum("pushfarm_alerts_active", ["alert": "stray_inbox"]) == 1)
        let doctor = try await farm.run("doctor")
        #expect(doctor.output.contains("pushfarm:dmeo holds 3 jobs"), "\(doctor)")
        #expect(!doctor.output.contains("pushfarm:text"))
        try client.run("DEL", "pushfarm:dmeo")
        try await eventually("all is well") { try await farm.run("status").status == 0 }
        let alerts = try client.run("XRANGE", "{pushfarm}:alerts", "-", "+").entries
        #expect(
            alerts.map { "\($0["type"] ?? "") \($0["alert"] ?? "")" } == [
                "alert.fired stray_inbox", "alert.cleared stray_inbox",
            ])
        #expect(try farm.scrape().sum("pushfarm_stray_inboxes") == 0)
    }

    @Test func `refused jobs are counted by minute, and many fire an alert`() async throws {
        let farm = try await Farm(
            Farm.Options(lines: [MetricsTests.listen, "alerts: { refused_jobs: 5 }"]))
        _ = try await farm.ready()
        let client = try farm.redis.client()
        // Three refused jobs fire no alert, but `status` shows them.
        for _ in 0..<3 { try client.run("RPUSH", "pushfarm:demo", "hello") }
        try await eventually("the status has them") {
            let status = try await farm.run("status")
            return status.status == 0
                && status.output.contains("demo: 3 jobs were refused in the last minute")
        }
        for _ in 0..<397 { try client.run("RPUSH", "pushfarm:demo", "hello") }
        try await eventually("each is counted") {
            try farm.scrape().sum("pushfarm_refused_jobs_total", ["app": "demo"]) == 400
        }
        try await eventually("the status has it as a trouble") {
            let status = try await farm.run("status")
            return status.status == 1
                && status.output.contains(
                    "jobs were refused in the last minute, see pushfarm refused list")
        }
        #expect(try farm.scrape().sum("pushfarm_alerts_active", ["alert": "refused_jobs"]) == 1)
        // One event may report several refused jobs. The events' counts add up to all refused jobs.
        try await eventually("the events stand for all") {
            try farm.events("job.refused").reduce(0) { $0 + ($1["jobs"].flatMap { Int($0) } ?? 1) } == 400
        }
        #expect(try farm.events("job.refused").count < 400)
        let refusals = farm.coordinator.error.split(separator: "\n").count { $0.contains("job refused") }
        #expect(refusals < 400)
        try await eventually("the alert clears", within: .seconds(180)) {
            try farm.scrape().sum("pushfarm_alerts_active", ["alert": "refused_jobs"]) == 0
        }
    }

    @Test func `the job record and the event warn of a suspicious payload`() async throws {
        let farm = try await Farm()
        try farm.push(#"{"id":"odd","tokens":["\#(Tokens.make(1)[0])"],"payload":{"alert":"Hi"}}"#)
        #expect(try await farm.finished("odd").delivered == 1)
        let event = try #require(try farm.events("job.accepted").first)
        #expect(event["warning"]?.contains(#"no "aps""#) == true)
        let job = try await farm.run("job", "odd", "--app", "demo")
        #expect(job.status == 0 && job.output.contains(#"warning: the payload has no "aps""#), "\(job)")
        let json = try await farm.run("job", "odd", "--app", "demo", "--json")
        #expect(json.output.contains(#""warning":"the payload has no"#), "\(json)")
    }

    @Test func `a job's topic must be one of its app's`() async throws {
        let farm = try await Farm(Farm.Options(appLines: ["topics: [com.example.other]"]))
        _ = try await farm.ready()
        let tokens = Tokens.make(3)
        try farm.push([
            Job(
                id: "own", tokens: [tokens[0]],
                fields: #""push_type":"voip","topic":"com.example.demo.voip""#),
            Job(id: "foreign", tokens: [tokens[1]], fields: #""topic":"com.example.third""#),
            Job(id: "other", tokens: [tokens[2]], fields: #""topic":"com.example.other""#),
        ])
        let event = try await farm.event("job.refused")
        #expect(event["job"] == "foreign" && event["field"] == "topic")
        #expect(event["reason"]?.contains(#"the app's "topics""#) == true)
        _ = try await farm.finished("own")
        _ = try await farm.finished("other")
        #expect(try farm.events("job.refused").count == 1)
    }
}
