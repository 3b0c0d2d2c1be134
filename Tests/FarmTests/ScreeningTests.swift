import FarmHarness
import Foundation
import Testing

/// `pushfarm screen` finds invalid tokens with silent pushes.
@Suite(.startsProcesses) struct ScreeningTests {
    private static let good = Tokens.make(600)
    private static let bad = Tokens.make(20, start: "bad00000", seed: 2)
    private static let gone = Tokens.make(20, start: "dead0000", seed: 3)
    /// The SHA-256 sum of the payload {"aps":{"content-available":1}}.
    private static let silence = "8f1f793114263a1c9b0eb1be68b71c3af128ab5ba4edd5e8e146d612ada7a704"
    /// All tokens, with the valid, invalid and unregistered tokens mixed.
    private static let all = (good + bad + gone).sorted { $0.suffix(16) < $1.suffix(16) }

    @Test func `one silent push separates valid from invalid tokens`() async throws {
        let begin = Int(Date().timeIntervalSince1970)
        let farm = try await Farm()
        var lines = Self.all
        lines.insert("nonsense", at: 9)
        lines.insert("# a remark", at: 20)
        lines.insert("", at: 30)
        lines.append(Self.good[5].uppercased())
        let screening = try Screening(farm, lines)
        let (status, jobRecord) = try await screening.run("--rate", "5000")
        #expect(status == 1 && jobRecord.state == "finished" && jobRecord.open == 0)
        #expect(jobRecord.submitted == 642 && jobRecord.good == 600 && jobRecord.invalid == 40)
        #expect(jobRecord.rest == 0 && jobRecord.duplicates == 1)
        #expect(jobRecord.invalidReasons == ["BadDeviceToken": 20, "Unregistered": 20])
        #expect(jobRecord.malformed == 1 && jobRecord.malformedLines.map(\.line) == [10])

        #expect(screening.tokens("good") == Self.good.sorted())
        #expect(screening.tokens("invalid") == (Self.bad + Self.gone).sorted())
        #expect(screening.tokens("rest").isEmpty)
        let now = Int(Date().timeIntervalSince1970)
        for line in screening.lines("invalid") {
            let isGone = Self.gone.contains(line[0])
            #expect(line.count == 3 && line[1] == (isGone ? "Unregistered" : "BadDeviceToken"))
            // The simulator's unregistered tokens have been unregistered since yesterday.
            let age = now - (Int(line[2]) ?? 0)
            #expect(isGone ? (80_000..<90_000).contains(age) : (-5..<3600).contains(age), "\(line)")
        }
        try screening.expectOnceAtTheGateway(Self.all)
        let requests = try farm.gateway.ledger().lines
        #expect(Set(requests.map(\.pushType)) == ["background"])
        #expect(Set(requests.map(\.priority)) == ["5"] && Set(requests.map(\.expiration)) == ["0"])
        #expect(
            Set(requests.map(\.bodySha256))
                == [Self.silence])

        // A second run of the same screening has nothing to do.
        let again = try await screening.run()
        #expect(again.status == 1 && again.jobRecord == jobRecord)
        try screening.expectOnceAtTheGateway(Self.all)
        // A new screening gets the invalid tokens and their times from the suppression list.
        let dead = screening.lines("invalid").sorted { $0[0] < $1[0] }
        let restarted = try await screening.run("--start-over", "--rate", "5000")
        #expect(restarted.jobRecord.suppressedBefore == 40 && restarted.jobRecord.good == 600)
        for (now, before) in zip(screening.lines("invalid").sorted { $0[0] < $1[0] }, dead) {
            #expect(now[..<2] == before[..<2])
            guard let previous = Int(before[2]), let known = Int(now[2]) else {
                Issue.record("\(before) \(now)")
                continue
            }
            // For an invalid token, the first screening stored the time of the event's report. The second screening gets the time
            // of the gateway's response, which is earlier.
            #expect(
                Self.gone.contains(now[0])
                    ? known == previous : (begin...previous + 1).contains(known), "\(before) \(now)")
        }
        // The file of valid tokens has the format of the input list.
        #expect(
            try await farm.run(
                "push", "--tokens-file", screening.file + ".good", "--alert", "Hi", "--wait"
            ).status == 0)
    }

    @Test func `the tokens of a segment are screened, and an interrupted screening keeps its tokens`()
        async throws
    {
        let farm = try await Farm()
        _ = try await farm.ready()
        let sandbox = Tokens.make(10, start: "5a5a", seed: 44)
        func input(_ token: String, _ more: String) -> String {
            #"{"id":"\#(token)","token":"\#(token)"\#(more)}"#
        }
        let others = Self.good.suffix(100)
        try farm.push(
            devices: Self.all.map { input($0, others.contains($0) ? "" : #","tags":["old"]"#) }
                + sandbox.map { input($0, #","tags":["old"],"environment":"sandbox""#) })
        try await farm.devicesFinished()
        let screening = try Screening(farm, [])
        // A file with other tokens is not replaced.
        try "\(sandbox[0])\n".write(toFile: screening.file, atomically: true, encoding: .utf8)
        let refused = try await farm.run(
            "screen", "--tokens-file", screening.file, "--segment", "tag:old", "--app", "demo")
        #expect(refused.status == 2 && refused.error.contains("has no tokens of this segment"), "\(refused)")

        let first = try await screening.run("--segment", "tag:old", "--start-over", "--rate", "5000")
        #expect(first.jobRecord.good == 500 && first.jobRecord.invalid == 40, "\(first)")
        #expect(first.jobRecord.malformed == 0 && first.jobRecord.submitted == 540)
        #expect(screening.tokens("good") == Self.good.dropLast(100).sorted())
        #expect(screening.tokens("invalid") == (Self.bad + Self.gone).sorted())
        try screening.expectOnceAtTheGateway(Self.all.filter { !others.contains($0) })

        // The screening has a progress file, so the same command reads the same tokens, though the segment has new devices.
        try farm.push(devices: [input(others.first ?? "", #","tags":["old"]"#)])
        try await farm.devicesFinished()
        let second = try await screening.run("--segment", "tag:old")
        #expect(second.jobRecord == first.jobRecord)
        let wrong = try await farm.run([
            "screen", "--tokens-file", "x", "--segment", "tag:(", "--app", "demo",
        ])
        #expect(wrong.status == 2 && !wrong.error.isEmpty, "\(wrong)")
    }

    @Test func `a list of mostly invalid tokens is screened completely, and no app is paused`() async throws {
        let farm = try await Farm()
        let bad = Tokens.make(1_800, start: "bad00000", seed: 31)
        let all = (Tokens.make(1_200, seed: 30) + bad).sorted { $0.suffix(16) < $1.suffix(16) }
        let screening = try Screening(farm, all)
        let (status, jobRecord) = try await screening.run("--rate", "5000")
        #expect(status == 0 && jobRecord.state == "finished")
        #expect(jobRecord.good == 1_200 && jobRecord.invalidReasons == ["BadDeviceToken": 1_800])
        // All of these tokens are invalid.
        let others = Tokens.make(2_000, start: "bad00000", seed: 32)
        let file = try farm.folder.write(others.map { $0 + "\n" }.joined(), to: "others.txt")
        let only = try await farm.run("screen", "--tokens-file", file, "--rate", "5000", "--json")
        #expect(only.status == 0 && only.output.contains(#""invalid":2000"#), "\(only)")
        #expect(try farm.events("app.paused").isEmpty)
        // The guard judges a bulk job that runs at the same time only by the responses to that job.
        try farm.push([Job(id: "live", tokens: Tokens.make(100, seed: 33))])
        #expect(try await farm.finished("live").delivered == 100)
    }

    @Test func `an unknown app is refused, and no file is created`() async throws {
        let farm = try await Farm()
        let screening = try Screening(farm, Self.good)
        let result = try await farm.run("screen", "--tokens-file", screening.file, "--app", "nobody")
        #expect(result.status == 2 && result.error.contains(#"no app "nobody""#), "\(result)")
        #expect(screening.lines("good") == [["no", "file"]])
    }

    @Test func `a screening that is interrupted repeatedly sends each token once`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["latency 20ms-200ms"]))
        let all = Tokens.make(3_000, seed: 9) + Self.bad + Self.gone
        let screening = try Screening(farm, all)
        for (round, signal) in [SIGKILL, SIGINT, SIGKILL, SIGTERM, SIGKILL].enumerated() {
            let before = screening.tokens("good").count
            // The screening is so slow that it is far from its end when the test interrupts it.
            let child = try screening.start("screen-\(round)", "--rate", "60")
            try await eventually("it has written some") { screening.tokens("good").count >= before + 30 }
            child.signal(signal)
            let end = try await child.wait()
            guard signal != SIGKILL else {
                #expect(end == .killed(SIGKILL))
                continue
            }
            #expect(
                end == .exited(75) && child.error.contains("run the same command again"), "\(child.error)")
            let jobRecord = try Screening.Summary(json: child.output)
            #expect(jobRecord.addsUp && jobRecord.state == "interrupted" && jobRecord.open > 0)
        }
        let (status, jobRecord) = try await screening.run("--rate", "2000")
        #expect(status == 0 && jobRecord.good == 3_000 && jobRecord.invalid == 40)
        #expect(screening.tokens("invalid") == (Self.bad + Self.gone).sorted())
        screening.expectWhole(all)
        try screening.expectOnceAtTheGateway(all)
    }

    @Test func `a screening notices lost events and reports no invalid token as valid`() async throws {
        let farm = try await Farm()
        let screening = try Screening(farm, Self.all)
        // One push of each job of the screening stays open, so the job stays open.
        let held = [0, 250, 500].compactMap { start in Self.all[start...].first(where: Self.good.contains)
        }
        for token in held { try farm.gateway.control("token \(token) throttled") }
        let child = try screening.start("screen", "--rate", "1000")
        try await farm.gateway.requests(200)
        child.signal(SIGKILL)
        _ = try await child.wait()
        for token in held { try farm.gateway.control("token \(token) forget") }
        // All submitted pushes finish, and the test drops their events before the screening reads them.
        try await eventually("all jobs are finished") {
            try await farm.status().apps.allSatisfy { $0.jobsOpen == 0 && $0.open == 0 && $0.inbox == 0 }
        }
        try farm.redis.client().run("XTRIM", "{pushfarm:demo}:events", "MAXLEN", "0")
        let (status, jobRecord) = try await screening.run("--rate", "2000")
        #expect(status == 1 && jobRecord.state == "finished")
        #expect(Set(jobRecord.restReasons.keys) == ["unseen"])
        screening.expectWhole(Self.all)
        #expect(Set(screening.tokens("good")).isDisjoint(with: Self.bad + Self.gone))
        #expect(Set(screening.tokens("invalid")).isSubset(of: Self.bad + Self.gone))
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: Self.good) == 0 && ledger.doubles == 0)
    }

    @Test func `a screening waits during an outage of Redis`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["latency 20ms"]))
        let screening = try Screening(farm, Self.all)
        let child = try screening.start("screen", "--rate", "60")
        for count in [50, 150] {
            try await farm.gateway.requests(count)
            try await farm.redis.kill()
            #expect(!child.hasEnded)
            try await farm.redis.restart()
        }
        try await expectFinished(screening, child)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.requests.keys.sorted() == Self.all.sorted())
        let doubles = ledger.requests.values.reduce(0) { $0 + $1 - 1 }
        #expect(doubles <= (try await possiblyDuplicated(farm)))
    }

    /// Waits until the screening ends, and expects the right result for each token.
    private func expectFinished(_ screening: Screening, _ child: Child) async throws {
        #expect(try await child.wait() == .exited(0), "\(child.error)")
        let jobRecord = try Screening.Summary(json: child.output)
        #expect(jobRecord.addsUp && jobRecord.good == 600 && jobRecord.invalid == 40)
        screening.expectWhole(Self.all)
    }

    /// The number of pushes that the farm counts as possibly duplicated.
    private func possiblyDuplicated(_ farm: Farm) async throws -> Int {
        let client = try farm.redis.client()
        let jobs = try client.run("ZRANGE", "{pushfarm:demo}:jobs", "0", "-1").array ?? []
        return try jobs.reduce(0) { sum, job in
            let jobRecord = try client.run("HGETALL", "{pushfarm:demo}:job:\(job.text ?? "")").fields
            return sum + (jobRecord["maybe_duplicated"].flatMap { Int($0) } ?? 0)
        }
    }

    @Test func `a long outage of Redis ends a screening with 75, and the same command resumes it`()
        async throws
    {
        let farm = try await Farm(Farm.Options(faults: ["latency 20ms"]))
        let screening = try Screening(farm, Self.all)
        let child = try screening.start("screen", "--rate", "100", "--timeout", "2")
        try await farm.gateway.requests(100)
        farm.redis.process.signal(SIGSTOP)
        #expect(try await child.wait() == .exited(75), "\(child.error)")
        #expect(child.error.contains("the same command continues from here"), "\(child.error)")
        farm.redis.process.signal(SIGCONT)
        let (status, jobRecord) = try await screening.run("--rate", "2000")
        #expect(status == 0 && jobRecord.good == 600 && jobRecord.invalid == 40)
        screening.expectWhole(Self.all)
    }

    @Test func `a screening submits only its open jobs again to a Redis that lost all data`()
        async throws
    {
        let farm = try await Farm()
        let screening = try Screening(farm, Self.all)
        // Each job of the screening has 75 tokens. The second job stays open until this token gets a response.
        let held = try #require(Self.all[75...].first(where: Self.good.contains))
        try farm.gateway.control("token \(held) throttled")
        let child = try screening.start("screen", "--rate", "300")
        try await eventually("the first job's outcomes are written") {
            screening.tokens("good").count >= 60
        }
        try await farm.gateway.requests(160)
        try await farm.redis.kill()
        try FileManager.default.removeItem(atPath: farm.folder.path + "/appendonlydir")
        try farm.gateway.control("token \(held) forget")
        try await farm.redis.restart()
        try await expectFinished(screening, child)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: Self.good) == 0)
        #expect(
            Self.all[..<75].allSatisfy { ledger.requests[$0] == 1 },
            "what had its outcome is not sent again")
    }

    @Test
    func `an empty list needs no work, and errors are reported before any push is sent`()
        async throws
    {
        let farm = try await Farm()
        let empty = try Screening(farm, ["# nobody", ""])
        let (status, jobRecord) = try await empty.run()
        #expect(status == 0 && jobRecord.submitted == 0)
        #expect(empty.lines("good").isEmpty && empty.lines("invalid").isEmpty && empty.lines("rest").isEmpty)

        let config = ["--config", farm.folder.path + "/pushfarm.yaml"]
        let list = try farm.folder.write(Self.good[0] + "\n", to: "other.txt")
        let usage = [
            ["--tokens-file", farm.folder.path + "/none"], ["--tokens-file", "/dev/null"],
            ["--tokens-file", list, "--good", list], ["--tokens-file", list, "--rate", "0"],
            ["--tokens-file", list, "--good", empty.file],
        ]
        for arguments in usage {
            let result = try await farm.run(["screen"] + arguments + config)
            #expect(result.status == 2 && !result.error.isEmpty, "\(arguments): \(result)")
        }
        let away = try await farm.run(
            ["screen", "--tokens-file", list, "--redis", "unix://\(farm.folder.path)/none.sock"] + config)
        #expect(away.status == 75, "\(away)")
        #expect(try farm.gateway.ledger().lines.isEmpty)
        #expect(try String(contentsOfFile: list, encoding: .utf8) == Self.good[0] + "\n")
    }

    /// The accepted frames of the binary protocol, from the gateway's ledger.
    private func frames(_ farm: Farm) throws -> [[String: Any]] {
        try LedgerFile.lines(farm.gateway.ledgerFile).compactMap {
            try JSONSerialization.jsonObject(with: $0) as? [String: Any]
        }.filter { $0["status"] as? Int == 200 }
    }

    @Test(arguments: [0, 1, 2]) func `valid and invalid tokens are separated at a binary gateway`(
        command: Int
    )
        async throws
    {
        var options = Farm.Options()
        options.simulatorOptions = ["--binary-port", "0"]
        options.apps = { started, _ in [App.binary(started, more: ["binary: { command: \(command) }"])] }
        let farm = try await Farm(options)
        let bad = Array(Self.bad[..<4])
        let tokens = Array(Self.good[..<100]) + bad
        let screening = try Screening(farm, tokens)
        let (status, jobRecord) = try await screening.run("--rate", "5000")
        #expect(screening.tokens("good") == Self.good[..<100].sorted())
        // With command 0 the gateway closes the connection without a reply, so there is no reason.
        let isNamed = command > 0
        #expect(status == (isNamed ? 0 : 1), "\(jobRecord)")
        #expect(screening.tokens(isNamed ? "invalid" : "rest") == bad.sorted(), "\(jobRecord)")
        #expect(jobRecord.invalidReasons == (isNamed ? ["InvalidToken": 4] : [:]))
        #expect(jobRecord.restReasons == (isNamed ? [:] : ["ClosedWithoutReply": 4]))
        // The frames have the payload and priority of the screening. Commands 0 and 1 have no priority.
        let frames = try frames(farm)
        let accepted = frames.compactMap { $0["token"] as? String }
        // With command 0 the gateway does not tell which push it refused. So the outcomes of several pushes are unknown, and the
        // farm sends these pushes again.
        #expect(Set(accepted) == Set(Self.good[..<100]) && (accepted.count == 100 || !isNamed))
        #expect(Set(frames.compactMap { $0["priority"] as? Int }) == (command == 2 ? [5] : []))
        #expect(Set(frames.compactMap { $0["body_sha256"] as? String }) == [Self.silence])
    }
}
