import FarmHarness
import Foundation
import Testing

/// The exit statuses and JSON fields of commands.
@Suite(.startsProcesses) struct CommandTests {
    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    @Test func `push --wait prints the job record, and its exit status shows if all pushes were delivered`()
        async throws
    {
        let farm = try await Farm()
        let good = Tokens.make(3)
        let done = try await farm.run(
            "push", "--app", "demo", "--token", good[0], good[1], "--alert", "Hi", "--id", "cli",
            "--wait", "--json")
        #expect(done.status == 0)
        let jobRecord = try JSONDecoder().decode(JobRecord.self, from: Data(done.output.utf8))
        #expect(jobRecord.id == "cli" && jobRecord.delivered == 2 && jobRecord.addsUp)

        let bad = Tokens.make(1, start: "bad00000")[0]
        let failed = try await farm.run(
            "push", "--token", bad, good[2], "--alert", "Hi", "--wait", "--json")
        #expect(failed.status == 1)
        let other = try JSONDecoder().decode(JobRecord.self, from: Data(failed.output.utf8))
        #expect(other.reasons == ["BadDeviceToken": 1] && other.delivered == 1)

        let file = try farm.folder.write(
            Tokens.make(40, seed: 3).joined(separator: "\n") + "\n", to: "t.txt")
        let payload = try farm.folder.write(#"{"aps":{"badge":1}}"#, to: "p.json")
        let sent = try await farm.run(
            "push", "--tokens-file", file, "--payload", "@" + payload, "--id", "file", "--json")
        #expect(sent.status == 0 && sent.output == #"{"id":"file","app":"demo","submitted":40}"# + "\n")
        #expect(try await farm.finished("file").delivered == 40)

        // Commands with a usage error, which each command reports before it sends anything.
        let usage = [
            ["push", "--token", good[0], "--alert", "x", "--payload", "{}"], ["push", "--alert", "x"],
            ["push", "--token", good[0], "--payload", "[]"], ["push", "--token", "abc", "--alert", "x"],
            ["push", "--token", good[0], "abc", "--alert", "x", "--dry-run"],
            ["push", "--token", good[0], "--alert", String(repeating: "x", count: 5000)],
            ["push", "--token", good[0], "--alert", "x", "--expires-at", "yesterday"],
            ["push", "--token", good[0], "--alert", "x", "--nonsense"],
            ["push", "--token", good[0], "--alert", "x", "--priority", "7"],
        ]
        for arguments in usage {
            let result = try await farm.run(
                arguments + ["--config", farm.folder.path + "/pushfarm.yaml"])
            #expect(result.status == 2 && !result.error.isEmpty, "\(arguments): \(result)")
        }
        let typos = try farm.folder.write("abc\nxyz\n", to: "typos.txt")
        #expect(try await farm.run("push", "--tokens-file", typos, "--alert", "x").status == 2)
        let dry = try await farm.run(
            "push", "--token", good[0], "--alert", "x", "--id", "dry", "--ttl", "1h", "--dry-run",
            "--wait")
        #expect(
            dry.output
                == #"{"id":"dry","tokens":["\#(good[0])"],"payload":{"aps":{"alert":"x"}},"ttl":3600}"#
                + "\n")
        #expect(dry.status == 0 && dry.error == "job dry would send 1 push to demo\n", "\(dry)")
        let output = try json(
            try await farm.run("push", "--token", good[0], "--alert", "x", "--dry-run", "--json").output)
        #expect(Set(output.keys) == ["id", "app", "submitted", "dry_run", "accepted", "job"])
        let odd = try await farm.run(
            "push", "--token", good[0], "--payload", #"{"alert":"x"}"#, "--dry-run")
        #expect(odd.status == 0 && odd.error.contains(#"warning: the payload has no "aps""#), "\(odd)")
        #expect(try farm.gateway.ledger().lines.count == 44)
        #expect(try farm.redis.client().run("EXISTS", "pushfarm:demo").integer == 0)

        let none = try await farm.run("job", "nobody", "--json")
        #expect(none.status == 1 && none.error.contains("nobody"))
        let jobs = try json(try await farm.run("jobs", "--json").output)["jobs"] as? [[String: Any]]
        #expect(jobs?.count == 3 && jobs?.first?["id"] as? String == "file")
        #expect(
            Set(try #require(jobs?.first).keys) == [
                "id", "app", "state", "submitted", "accepted", "malformed", "duplicates",
                "unknown_recipients", "capped", "delivered",
                "failed",
                "expired", "cancelled", "queued", "in_flight", "delayed", "maybe_duplicated",
                "created_at",
                "finished_at", "paused_reason", "crashes", "replay_of", "replayed", "warning", "reasons",
            ])
        let open = try json(try await farm.run("jobs", "--open", "--json").output)["jobs"] as? [Any]
        #expect(open?.isEmpty == true)
    }

    @Test func `a limit counts the rows of all apps together`() async throws {
        var options = Farm.Options()
        options.apps = { started, _ in [App(started), App(started, name: "shop")] }
        let farm = try await Farm(options)
        let jobs = ["demo", "shop"].map { app in
            (0..<4).map { Job(id: "\(app)-\($0)", tokens: Tokens.make(1, seed: UInt64($0))) }
        }
        try farm.push(jobs[0])
        try farm.push(jobs[1], to: "shop")
        try farm.push(#"{"id":"one"}"#)
        try farm.push(#"{"id":"two"}"#, to: "shop")
        _ = try await farm.finished(jobs[0])
        _ = try await farm.finished(jobs[1], app: "shop")
        let list = try json(try await farm.run("jobs", "--limit", "5", "--json").output)
        #expect((list["jobs"] as? [Any])?.count == 5)
        let refused = try json(try await farm.run("refused", "list", "--limit", "1", "--json").output)
        #expect((refused["refused"] as? [Any])?.count == 1)

        try farm.gateway.control("latency 60s")
        let open = ["demo", "shop"].map { app in
            (0..<3).map { Job(id: "\(app)-open-\($0)", tokens: Tokens.make(1, seed: UInt64(9 + $0))) }
        }
        try farm.push(open[0])
        try farm.push(open[1], to: "shop")
        try await eventually("all are open") {
            let states = try farm.redis.client().pipeline(
                zip(["demo", "shop"], open).flatMap { app, jobs in
                    jobs.map { ["HGET", "{pushfarm:\(app)}:job:\($0.id)", "state"] }
                })
            return states.allSatisfy { $0.text == "open" }
        }
        let running = try json(
            try await farm.run("jobs", "--running", "--over", "100ms", "--limit", "5", "--json").output)
        #expect((running["jobs"] as? [Any])?.count == 5 && running["others"] as? Int == 1)
        let latest = try json(try await farm.run("jobs", "--open", "--limit", "5", "--json").output)
        #expect(
            (latest["jobs"] as? [[String: Any]])?.allSatisfy { $0["state"] as? String == "open" } == true)
        #expect((latest["jobs"] as? [Any])?.count == 5)
    }

    @Test func `job shows a job that push sent in parts by the ids of its parts`() async throws {
        let farm = try await Farm(Farm.Options(appLines: ["max_tokens: 2"]))
        let here = ["--config", farm.folder.path + "/pushfarm.yaml"]
        let pushed = try await farm.run(
            ["push", "--alert", "Hi", "--id", "many", "--wait", "--token"] + Tokens.make(5) + here)
        #expect(pushed.status == 0, "\(pushed)")
        let asked = [
            (["job", "many"], status: 1), (["cancel", "many"], 1),
            (["cancel", "many", "--app", "demo"], 1),
            (["pause", "many"], 2),
        ]
        for (words, status) in asked {
            let result = try await farm.run(words + here)
            #expect(result.status == status, "\(words): \(result)")
            #expect(result.error.contains("many.1 to many.3"), "\(words): \(result)")
        }
        #expect(try await farm.run("cancel", "many.3").output.contains("is finished"))
    }

    @Test func `status and doctor show the farm's state`() async throws {
        let farm = try await Farm()
        let host = try await farm.ready()
        #expect(host.host == "here" && host.state == "running" && host.capacity == 2)
        #expect(host.workers.map(\.worker) == ["0", "1"] && host.workers.map(\.shards) == [32, 32])
        #expect(Set(host.workers.map(\.pid) + [host.intake.pid]) == Set(farm.coordinator.descendants))
        #expect(try await farm.run("status").status == 0)
        let doctor = try await farm.run("doctor", "--json")
        #expect(doctor.status == 0, "\(doctor)")
        let report = try json(doctor.output)
        #expect(report["ok"] as? Bool == true)
        let checks = try #require(report["checks"] as? [[String: Any]])
        #expect(
            !checks.isEmpty && checks.allSatisfy { Set($0.keys) == ["check", "grade", "text", "advice"] })

        farm.gateway.process.signal(SIGTERM)
        #expect(try await farm.gateway.process.wait() == .exited(0))
        #expect(try await farm.run("doctor", "--json").status == 75)
        farm.coordinator.signal(SIGTERM)
        #expect(try await farm.coordinator.wait() == .exited(0))
        #expect(try await farm.run("status", "--json").status == 1)
    }

    @Test func `commands report an outage of Redis and exit with 75`() async throws {
        let folder = try TestFolder()
        for arguments in [["status"], ["jobs"], ["job", "x"], ["doctor"]] {
            let child = try Child(
                "c", BuiltProgram.path,
                arguments + [
                    "--redis", "unix://\(folder.path)/none.sock", "--state-dir", folder.path + "/var",
                ],
                in: folder.path)
            let end = try await child.wait()
            // `doctor` exits with 1, because the configuration has no app, and `doctor` rates this as a worse problem than an
            // unreachable Redis.
            #expect(end == .exited(arguments == ["doctor"] ? 1 : 75), "\(arguments): \(child.error)")
        }
    }

    @Test func `a configuration error names the file, the line and the nearest key`() async throws {
        let folder = try TestFolder()
        let file = try folder.write(
            """
            redis: unix://\(folder.path)/none.sock
            apps:
              demo:
                topic: com.example.demo
                gatway: https://127.0.0.1:1
            """, to: "pushfarm.yaml")
        let child = try Child("c", BuiltProgram.path, ["coordinator", "--config", file], in: folder.path)
        #expect(try await child.wait() == .exited(2))
        #expect(child.error.contains("\(file):5") && child.error.contains("gateway"), "\(child.error)")

        try folder.write("workers: many\n", to: "pushfarm.yaml")
        let other = try Child("d", BuiltProgram.path, ["status", "--config", file], in: folder.path)
        #expect(try await other.wait() == .exited(2))
        #expect(other.error.contains("\(file):1") && other.error.contains("workers"), "\(other.error)")
    }

    @Test func `SIGHUP adds an app, and an invalid configuration changes nothing`() async throws {
        let farm = try await Farm()
        let before = try await farm.ready()
        let apps = [App(farm.gateway.started), App(farm.gateway.started, name: "second")]
        try farm.write(apps: apps)
        farm.coordinator.signal(SIGHUP)
        try farm.push([Job(id: "new", tokens: Tokens.make(50))], to: "second")
        try await eventually("the new app has its job record") {
            try farm.redis.client().run("EXISTS", "{pushfarm:second}:job:new").integer == 1
        }
        #expect(try await farm.finished("new", app: "second").delivered == 50)

        try farm.folder.write("appps: {}\n", to: "pushfarm.yaml")
        farm.coordinator.signal(SIGHUP)
        try await eventually("the mistake is logged") { farm.coordinator.error.contains("appps") }
        try farm.write(apps: apps)
        try await eventually("status says so") {
            let status = try await farm.run("status")
            return status.status == 1 && status.output.contains("here: configuration not followed: ")
                && status.output.contains("appps")
        }
        try farm.push([Job(id: "old", tokens: Tokens.make(50))])
        #expect(try await farm.finished("old").delivered == 50)
        let after = try await farm.ready()
        #expect(after.workers.map(\.pid) == before.workers.map(\.pid))
    }

    @Test func `an app that SIGHUP removes and adds again is delivered`() async throws {
        let farm = try await Farm()
        let before = try await farm.ready()
        let second = App(farm.gateway.started, name: "second")
        let (all, less) = ([App(farm.gateway.started), second], [App(farm.gateway.started)])
        func configure(_ apps: [App]) async throws {
            try farm.write(apps: apps)
            let count = farm.coordinator.error.components(separatedBy: "configuration reloaded").count
            farm.coordinator.signal(SIGHUP)
            try await eventually("the configuration is read") {
                farm.coordinator.error.components(separatedBy: "configuration reloaded").count > count
            }
        }
        for (round, apps) in [all, less, all, less, all].enumerated() {
            try await configure(apps)
            guard apps.count == 2 else { continue }
            try farm.push([Job(id: "job\(round)", tokens: Tokens.make(50))], to: "second")
            try await eventually("the app has its job record") {
                try farm.redis.client().run("EXISTS", "{pushfarm:second}:job:job\(round)").integer == 1
            }
            #expect(try await farm.finished("job\(round)", app: "second").delivered == 50)
        }
        let after = try await farm.ready()
        #expect(after.workers.map(\.pid) == before.workers.map(\.pid))
    }
}
