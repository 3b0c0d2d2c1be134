import FarmHarness
import Foundation
import Testing

/// Delayed jobs, and jobs past their deadline.
@Suite(.startsProcesses) struct ScheduleTests {
    @Test func `a job is delayed until deliver_at`() async throws {
        let farm = try await Farm()
        let (soon, far) = (Tokens.make(50), Tokens.make(20, seed: 2))
        let time = Int(Date().timeIntervalSince1970) + 3
        try farm.push([
            Job(id: "far", tokens: far, fields: #""deliver_at":\#(time + 3600)"#),
            Job(id: "soon", tokens: soon, fields: #""deliver_at":\#(time)"#),
        ])
        #expect(try await farm.finished("soon").delivered == 50)
        let waiting = try #require(try await farm.jobRecord("far"))
        #expect(waiting.delayed == 20 && waiting.addsUp)
        let app = try #require(try await farm.status().apps.first)
        #expect(app.delayed > 0 && app.ready == 0)
        let running = try await farm.run("jobs", "--running", "--over", "100ms")
        #expect(running.output.contains("delayed") && running.output.contains("due in "), "\(running)")
        for words in [["job", "far"], ["find", "--job", "far"]] {
            let said = try await farm.run(words + ["--config", farm.folder.path + "/pushfarm.yaml"])
            #expect(said.output.contains("delay: 20 pushes are delayed; the first: due in "), "\(said)")
        }
        #expect(try await farm.run("pause", "demo").status == 0)
        #expect(try await farm.run("job", "far").output.contains("delay: the app is paused"))
        #expect(try await farm.run("resume", "demo").status == 0)
        let lines = try farm.gateway.ledger().lines
        #expect(lines.compactMap(\.token).sorted() == soon.sorted())
        #expect(lines.allSatisfy { $0.time >= Int64(time) * 1000 })
    }

    @Test func `pushes past their deadline expire unsent`() async throws {
        let farm = try await Farm()
        let now = Int(Date().timeIntervalSince1970)
        let tokens = Tokens.make(20)
        try farm.push([
            Job(
                id: "old", tokens: tokens, fields: #""deliver_at":\#(now + 10),"expires_at":\#(now + 11)"#
            )
        ])
        _ = try await farm.event("job.accepted")
        // The deadline passes while no worker is running.
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        try await eventually("the deadline has passed") {
            Date().timeIntervalSince1970 > Double(now + 11)
        }
        try farm.restartCoordinator()
        let jobRecord = try await farm.finished("old")
        #expect(jobRecord.expired == 20 && jobRecord.delivered == 0 && jobRecord.failed == 0)
        #expect(try farm.gateway.ledger().lines.isEmpty)
        #expect(try farm.events("push.expired").compactMap { $0["token"] }.sorted() == tokens.sorted())
    }

    @Test func `a job shows its retries and their cause`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["answer 503"]))
        try farm.push([Job(id: "ill", tokens: Tokens.make(1))])
        let words = [
            "jobs", "--running", "--over", "100ms", "--config", farm.folder.path + "/pushfarm.yaml",
        ]
        try await eventually("it says which retry is next") {
            try await farm.run(words).output.contains(
                /retry [1-8] of 8 (in [0-9]|now).*: ServiceUnavailable/)
        }
        try await eventually("and so does the job") {
            try await farm.run("job", "ill").output.contains(
                "delay: 1 push is delayed; the first: retry ")
        }
    }

    @Test func `a push that keeps failing expires at its deadline and reports the cause`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["answer 500"]))
        try farm.push([Job(id: "ttl", tokens: Tokens.make(1), fields: #""ttl":3"#)])
        let jobRecord = try await farm.finished("ttl")
        #expect(jobRecord.expired == 1)
        #expect(try farm.events("push.expired").first?["cause"] == "InternalServerError")
    }
}
