import FarmHarness
import Foundation
import Testing

/// Environment variables with failpoint rules for the intake process.
private func failing(_ rules: String...) -> [String: String] {
    ["PUSHFARM_FAILPOINTS": rules.joined(separator: ",")]
}

/// Crashes of the intake process, which parses jobs.
@Suite(.startsProcesses(limit: .seconds(300))) struct IntakeTests {
    /// Jobs with four tokens each: one token that all jobs have, and three tokens that only one job has. The jobs are numbered
    /// from `number`, and a job's number is the collapse id of its pushes.
    private static func jobs(_ names: [String], number: Int = 0) -> [Job] {
        names.enumerated().map { index, name in
            Job(
                id: name, tokens: Tokens.make(1, seed: 77) + Tokens.make(3, seed: UInt64(number + index)),
                fields: #""collapse_id":"\#(number + index)""#)
        }
    }

    /// A job may make the intake use too much memory, and then the kernel kills the intake. But a kill may have other causes, so
    /// the farm refuses a job only after six kills, and after three crashes.
    @Test(arguments: [("crash", 3), ("kill", 6)])
    func `a job that crashes the intake is refused as poison, and the others pass in order`(
        how: String, times: Int
    ) async throws {
        let farm = try await Farm(
            Farm.Options(
                environment: failing("intake.parse@poison:\(how)"),
                apps: { started, _ in [App(started), App(started, name: "other")] }))
        let before = try await farm.ready()
        let first = Self.jobs((0..<20).map { "a\($0)" })
        let last = Self.jobs((0..<20).map { "b\($0)" }, number: 20)
        let others = Self.jobs((0..<40).map { "o\($0)" }, number: 1000)
        try farm.push(first + Self.jobs(["poison"], number: 999) + last)
        try farm.push(others, to: "other")

        #expect(try await farm.finished(first + last).delivered == 40 * 4)
        #expect(try await farm.finished(others, app: "other").delivered == 40 * 4)
        let refused = try farm.refused()
        #expect(refused.map { $0["reason"] } == ["poison"])
        #expect(refused.first?["original"]?.contains("poison") == true)
        #expect(try farm.events("job.refused").map { $0["reason"] } == ["poison"])
        #expect(try farm.refused(app: "other").isEmpty)
        #expect(try await farm.jobRecord("poison") == nil)
        let device = Tokens.make(1, seed: 77)[0]
        let order = try farm.gateway.ledger().lines.filter { $0.token == device }
        #expect(
            order.compactMap { $0.collapseId.flatMap { Int($0) } }.filter { $0 < 1000 }
                == Array(0..<40))
        #expect(try farm.gateway.ledger().lines.count == 4 * (40 + others.count))

        let after = try await farm.ready()
        #expect(after.intake.restarts == times)
        #expect(after.pid == before.pid && after.workers.map(\.pid) == before.workers.map(\.pid))
    }

    @Test func `the rest of a partly split poison job fails, and the job's accounting is exact`()
        async throws
    {
        let farm = try await Farm(Farm.Options(environment: failing("redis.split.after:stop")))
        _ = try await farm.ready()
        let tokens = Tokens.make(40_000)
        try farm.push([
            Job(id: "large", tokens: tokens), Job(id: "next", tokens: Tokens.make(5, seed: 9)),
        ])
        let offset = try await eventually("a part of it is split") {
            try farm.redis.client().run("HGET", "{pushfarm:demo}:intake", "offset").text.flatMap {
                Int($0)
            }
        }
        #expect(offset > 0 && offset < tokens.count)
        // The test waits until all split pushes are delivered. A crash while pushes are in flight could duplicate them.
        try await eventually("that part is delivered") {
            try farm.redis.client().run("HGET", "{pushfarm:demo}:job:large", "delivered").text
                == "\(offset)"
        }
        farm.coordinator.destroy()
        try farm.restartCoordinator(environment: failing("intake.parse@large:kill"))

        #expect(try await farm.finished("next").delivered == 5)
        let jobRecord = try await farm.finished("large")
        #expect(jobRecord.accepted == tokens.count && jobRecord.delivered == offset)
        #expect(jobRecord.reasons == ["poison": tokens.count - offset])
        #expect(try farm.refused().map { $0["job"] } == ["large"])
        let cut = try await farm.event("job.pushes_failed")
        #expect(cut["job"] == "large" && cut["failed"] == "\(tokens.count - offset)")
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: Array(tokens[..<offset])) == 0 && ledger.doubles == 0)
    }

    @Test func `an intake that is killed ten times under load accepts each job once`()
        async throws
    {
        let farm = try await Farm()
        var host = try await farm.ready()
        var jobs: [Job] = []
        let client = try farm.redis.client()
        for round in 0..<10 {
            let first = Job.several("f\(round)", Tokens.make(20, seed: UInt64(round + 1)), size: 1)
            try farm.push(first)
            // The coordinator replaces a process without a delay if the process has made progress.
            try await eventually("it has done something") { try farm.intakeLine()?.jobs ?? 0 > 0 }
            var mixed = Job.several(
                "s\(round)", Tokens.make(300, start: "cc", seed: UInt64(round + 1)), size: 1)
            let large = Job(
                id: "l\(round)", tokens: Tokens.make(6_000, start: "bb", seed: UInt64(round + 1)))
            mixed.insert(large, at: Int.random(in: 0...mixed.count))
            try farm.push(mixed)
            jobs += first + mixed
            try await eventually("workers hold some of it") {
                try client.run("LLEN", "{pushfarm:demo}:taken").integer ?? 0 > 0
                    || client.run("EXISTS", "{pushfarm:demo}:job:\(mixed[150].id)").integer == 1
            }
            farm.kill(child: host.intake.pid)
            let gone = host.intake.pid
            try await eventually("another takes its place") {
                try farm.intakeLine().map { $0.state == "ready" && $0.pid != gone } ?? false
            }
            host = try await farm.ready()
        }
        #expect(host.intake.restarts == 10)
        try await eventually("all jobs are accepted", within: .seconds(60)) {
            try client.run("ZCARD", "{pushfarm:demo}:jobs").integer == Int64(jobs.count)
        }
        #expect(try farm.refused().isEmpty)
        try await eventually("nothing is open", within: .seconds(100)) {
            try client.run("LLEN", "{pushfarm:demo}:taken").integer == 0
                && client.run("HGET", "{pushfarm:demo}:load", "open").text == "0"
        }
        var accepted: [String: Int] = [:]
        for event in try farm.events("job.accepted") { accepted[event["job"] ?? "", default: 0] += 1 }
        #expect(accepted.count == jobs.count && accepted.values.allSatisfy { $0 == 1 })
        try await eventually("all jobs are finished", within: .seconds(100)) {
            try farm.events("job.finished").count == jobs.count
        }
        let totals = try await farm.finished(jobs.filter { $0.tokens.count > 1 } + jobs.suffix(20))
        #expect(totals.failed == 0)
        let tokens = jobs.flatMap(\.tokens)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0 && ledger.doubles == 0)
        #expect(ledger.lines.count == tokens.count)
    }
}

extension Farm {
    /// The intake's part of the host's heartbeat, read directly from Redis.
    fileprivate func intakeLine() throws -> Status.Intake? {
        struct Line: Decodable { var intake: Status.Intake }
        let line = try redis.client().run("HGET", "{pushfarm}:hosts", "here").text ?? ""
        return try line.firstIndex(of: "{").map { start in
            try JSONDecoder().decode(Line.self, from: Data(line[start...].utf8)).intake
        }
    }
}

/// An intake process without progress, which the watchdog kills after half a minute.
@Suite(.startsProcesses) struct HangingIntakeTests {
    @Test func `a job that hangs the intake is refused as poison`() async throws {
        let farm = try await Farm(Farm.Options(environment: failing("intake.parse@poison:delay(60000)")))
        _ = try await farm.ready()
        try farm.push(
            [Job(id: "a", tokens: Tokens.make(3)), Job(id: "poison", tokens: Tokens.make(3, seed: 2))]
                + [Job(id: "b", tokens: Tokens.make(3, seed: 3))])
        try await eventually("the others are accepted", within: .seconds(120)) {
            try farm.events("job.accepted").count == 2
        }
        for job in ["a", "b"] { #expect(try await farm.finished(job).delivered == 3) }
        #expect(try farm.refused().map { $0["reason"] } == ["poison"])
        #expect(try await farm.ready().intake.restarts == 3)
    }
}
