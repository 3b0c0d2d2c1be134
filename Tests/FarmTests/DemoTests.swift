import FarmHarness
import Foundation
import Testing

@Suite(.startsProcesses) struct DemoTests {
    @Test func `the demo kills a worker, its accounting is exact, and it cleans up`() async throws {
        let folder = try TestFolder()
        let child = try Child(
            "demo", BuiltProgram.path,
            [
                "demo", "--pushes", "2000", "--bad", "20", "--kill", "1", "--json", "--set",
                "apps.demo.max_rate=100",
            ],
            // Settings of other farms in the environment do not affect the demo.
            environment: [
                "TMPDIR": folder.path, "PUSHFARM_REDIS": "redis://127.0.0.1:1", "PUSHFARM_WORKRS": "x",
            ], in: folder.path)
        let wasReported = try await eventually("the demo's coordinator, or the end") {
            let wasReported = ProcessTable.naming(folder: folder.path).contains {
                ProcessTable.isAbout("coordinator", $0)
                    && ProcessTable.visibleText(of: $0).contains("\0--set\0apps.demo.max_rate=100\0")
            }
            return wasReported || child.hasEnded ? wasReported : nil
        }
        #expect(wasReported, "the coordinator hears what the app is to have")
        #expect(try await child.wait(within: .seconds(100)) == .exited(0), "\(child.error)")
        let jobRecord = try #require(
            try JSONSerialization.jsonObject(with: Data(child.output.utf8)) as? [String: Any],
            "\(child.output)")
        #expect(jobRecord["delivered"] as? Int == 1980 && jobRecord["failed"] as? Int == 20)
        #expect(jobRecord["workers_killed"] as? Int == 1)
        #expect(ProcessTable.naming(folder: folder.path).isEmpty)
    }

    @Test func `the demo of a campaign kills a worker and the intake, and its counts agree`() async throws {
        let folder = try TestFolder()
        let child = try Child(
            "demo", BuiltProgram.path,
            ["demo", "--campaign", "--devices", "3000", "--bad", "40", "--json"],
            environment: ["TMPDIR": folder.path], in: folder.path)
        #expect(try await child.wait(within: .seconds(100)) == .exited(0), "\(child.error)")
        let result = try #require(
            try JSONSerialization.jsonObject(with: Data(child.output.utf8)) as? [String: Any],
            "\(child.output)")
        let numbers = result.compactMapValues { $0 as? Int }
        #expect(numbers["devices"] == 3_000 && numbers["audience"] == 2_700, "\(result)")
        #expect(numbers["accepted"] == 2_700 && numbers["lost"] == 0)
        #expect((numbers["delivered"] ?? 0) + (numbers["failed"] ?? 0) == 2_700)
        #expect(numbers["workers_killed"] == 1 && numbers["intakes_killed"] == 1)
        #expect(ProcessTable.naming(folder: folder.path).isEmpty)
    }

    @Test func `up runs a farm until a signal ends it`() async throws {
        let folder = try TestFolder()
        let up = try Child(
            "up", BuiltProgram.path, ["up", "--simulate", "--json", "--state-dir", folder.path + "/var"],
            in: folder.path)
        try await eventually("up has started") { up.hasEnded || up.output.contains("\"running\"") }
        let push = try Child(
            "push", BuiltProgram.path,
            [
                "push", "--app", "demo", "--alert", "Hi", "--wait", "--state-dir", folder.path + "/var",
                "--tokens-file", try folder.write(Tokens.make(50).joined(separator: "\n"), to: "t.txt"),
            ], in: folder.path)
        #expect(try await push.wait() == .exited(0), "\(push.error)")
        let stray = try Child(
            "stray", BuiltProgram.path,
            [
                "push", "--app", "demi", "--alert", "Hi", "--token", Tokens.make(1)[0], "--state-dir",
                folder.path + "/var",
            ], in: folder.path)
        #expect(
            try await stray.wait() == .exited(2) && stray.error.contains("did you mean \"demo\"?"),
            "\(stray.error)")
        // If the old coordinator ended, `up` and its Redis would end too.
        let upgrade = try Child(
            "upgrade", BuiltProgram.path, ["upgrade", "all", "--state-dir", folder.path + "/var"],
            in: folder.path)
        #expect(try await upgrade.wait() == .exited(1) && !up.hasEnded, "\(upgrade.output)")
        up.signal(SIGTERM)
        #expect(try await up.wait() == .exited(0), "\(up.error)")
        #expect(ProcessTable.naming(folder: folder.path).isEmpty)
    }

    @Test func `the commands in the documentation and in the output of up work`() async throws {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/.build/release", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/.build/release/pushfarm", withDestinationPath: BuiltProgram.path)
        let (readme, jobs) = (try Page("README.md"), try Page("docs/jobs.md"))
        let start = try readme.block(below: "## Try it", "sh", with: " up --simulate")
        let up = try Child(
            "up", "/bin/sh", ["-c", #"cd "$0" && exec "# + start, folder.path], in: folder.path)
        try await eventually("up has started") { up.hasEnded || up.output.contains("redis-cli") }
        var number = 0
        func run(_ line: String, in place: TestFolder) async throws -> Child {
            number += 1
            let child = try Child(
                "line-\(number)", "/bin/sh", ["-c", #"cd "$0" || exit; "# + line, place.path],
                in: place.path)
            _ = try await child.wait()
            return child
        }
        let pushed = try await run(
            readme.block(below: "## Try it", "sh", with: "pushfarm push"), in: folder)
        #expect(
            pushed.output.contains("delivered") && pushed.error.isEmpty, "\(pushed.output)\(pushed.error)"
        )
        let raw = try await run(jobs.block(below: "## Send a job", "sh", with: "RPUSH"), in: folder)
        #expect(
            Int(raw.output.trimmingCharacters(in: .whitespacesAndNewlines)) != nil,
            "\(raw.output)\(raw.error)")

        // The commands that `up` prints work in any folder.
        let elsewhere = try TestFolder()
        let printed = up.output.components(separatedBy: "To push from another terminal:\n").last ?? ""
        let lines = printed.split(separator: "\n").prefix(2).map(String.init)
        for (line, word) in zip(lines, ["delivered", "\n"]) {
            let child = try await run(line, in: elsewhere)
            #expect(
                child.error.isEmpty && child.output.contains(word),
                "\(line): \(child.output)\(child.error)")
        }
        #expect(lines.count == 2 && lines[1].contains("redis-cli -p "), "\(up.output)")
        let redis = try BlockingRedisClient(folder.path + "/var/redis.sock")
        let password = try String(contentsOfFile: folder.path + "/var/redis.password", encoding: .utf8)
            .trimmingCharacters(in: .newlines)
        #expect(throws: (any Error).self) { try redis.run("PING") }
        try redis.run("AUTH", password)
        #expect(try redis.run("CONFIG", "GET", "bind").array?.last?.text == "127.0.0.1")
        try await eventually("all three jobs of it are delivered") {
            try redis.run("HGET", "{pushfarm:demo}:load", "settled").text == "4"
        }
        for file in ["redis.password", "redis.conf", "up.yaml"] {
            let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/var/" + file)[
                .posixPermissions]
            #expect(mode as? Int == 0o600, "\(file)")
        }
        for pid in ProcessTable.naming(folder: folder.path) {
            #expect(!ProcessTable.visibleText(of: pid).contains(password))
        }

        // A command in a folder without a farm prints the folder of a running farm.
        try FileManager.default.createDirectory(
            atPath: elsewhere.path + "/var", withIntermediateDirectories: true)
        try elsewhere.write(
            "redis: unix://\(elsewhere.path)/var/redis.sock\nstate_dir: \(elsewhere.path)/var\n",
            to: "var/up.yaml")
        let lost = try Child(
            "lost", "/bin/sh",
            ["-c", #"cd "$0" && exec "$1" status"#, elsewhere.path, BuiltProgram.path],
            in: elsewhere.path)
        #expect(try await lost.wait() == .exited(75))
        #expect(lost.error.contains("pushfarm up runs with --state-dir "), "\(lost.error)")
        #expect(lost.error.contains(folder.path + "/var"), "\(lost.error)")

        up.signal(SIGTERM)
        #expect(try await up.wait() == .exited(0), "\(up.error)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/var/up.yaml"))
        #expect(ProcessTable.naming(folder: folder.path).isEmpty)
    }
}
