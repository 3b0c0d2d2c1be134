import FarmHarness
import Foundation
import Testing

/// Operator commands that move shards between hosts under load.
@Suite(.startsProcesses(limit: .seconds(240))) struct ShardMovingCommandsTests {
    private static let pace = ["latency 30ms", "streams 50"]

    private func farm(_ names: [String] = ["alpha", "beta"], lines: [String] = []) async throws -> Farm {
        let farm = try await Farm(hosts: names, Farm.Options(faults: Self.pace, lines: lines))
        try await farm.startAll()
        return farm
    }

    @Test func `drain, resume, quiet and stop work on a host under load`() async throws {
        let farm = try await farm()
        let load = try Load(farm)
        try await load.more(1)
        let drained = try await farm.operate("drain", "beta")
        #expect(drained.hosts.map(\.host) == ["beta"] && drained.hosts[0].text.contains("alpha"))
        #expect(try await farm.line("beta").state == "drained")
        try await farm.shared(by: ["alpha"], within: .seconds(10))
        let vain = try await farm.run(["shards", "move", "7", "beta"], on: "alpha")
        #expect(vain.status == 1 && vain.error.contains("drained"), "\(vain)")
        try await load.more(1)
        try await farm.operate("reload", "beta")
        try await farm.shared(by: ["alpha", "beta"])
        try await load.more(1)
        try await farm.operate("quiet", "beta")
        #expect(try await farm.line("beta").state == "quiet")
        try await farm.operate("drain", "beta", "--timeout", "10")
        try await farm.shared(by: ["alpha"], within: .seconds(10))
        try await farm.operate("reload", "beta")
        try await farm.shared(by: ["alpha", "beta"])
        try await load.more(1)
        try await farm.operate("quiet", "beta")
        let stopped = try await farm.operate("stop", "beta")
        // The command `stop` returns after the host has stopped.
        #expect(stopped.hosts[0].text.contains("ended") && stopped.hosts[0].text.contains("alpha"))
        #expect(try farm.shares()["beta"] == nil)
        #expect(try await farm.coordinator("beta").wait(within: .seconds(30)) == .exited(0))
        try await farm.shared(by: ["alpha"], within: .seconds(10))
        try await load.more(1)
        try await load.expectExactlyOnce()
    }

    @Test func `a quiet worker or host hands its shards over at once and gets no others`()
        async throws
    {
        let farm = try await farm()
        let load = try Load(farm)
        try await load.more(1)
        try await farm.operate("quiet", "beta")
        try await farm.operate("drain", "beta")
        try await farm.shared(by: ["alpha"], within: .seconds(10))
        try await farm.operate("reload", "beta")
        try await farm.shared(by: ["alpha", "beta"])
        try await load.more(1)
        // The host's other worker serves the shards of a quiet worker.
        // If all workers of the host are quiet, the shards go to other hosts.
        try await farm.operate("quiet", "beta/1")
        let workers = try await farm.line("beta").workers
        #expect(workers[1].state == "quiet" && workers[1].shards == 0 && workers[0].shards > 0)
        try await load.more(1)
        try await farm.operate("quiet", "beta/0")
        let status = try await farm.run(["status"], on: "alpha")
        #expect(status.status == 1 && status.output.contains("worker 1 of beta is quiet"), "\(status)")
        let needless = try await farm.operate("resume", "beta")
        #expect(needless.hosts[0].text.contains("worker 0 is quiet: resume beta/0"))
        try await farm.operate("resume", "beta/0")
        try await farm.shared(by: ["alpha", "beta"])
        #expect(try await farm.line("beta").workers[0].shards == workers[0].shards)
        try await farm.operate("upgrade", "beta")
        try await load.more(1)
        try await farm.operate("quiet", "beta/0")
        try await farm.operate("drain", "beta")
        try await farm.shared(by: ["alpha"], within: .seconds(10))
        try await load.more(1)
        try await load.expectExactlyOnce()
    }

    @Test func `the other host serves a quiet host's shards until resume returns them`() async throws {
        let farm = try await farm()
        let load = try Load(farm)
        try await load.more(1)
        let quiet = try await farm.operate("quiet", "beta")
        #expect(quiet.hosts[0].text.contains("its shards are with alpha"), "\(quiet)")
        try await farm.shared(by: ["alpha"], within: .seconds(10))
        #expect(try await farm.line("beta").state == "quiet")
        // The tokens of the load are in all shards. Their pushes arrive, so no shard waits for the quiet host.
        try await load.more(2)
        let status = try await farm.run(["status"], on: "alpha")
        #expect(status.status == 0, "\(status)")
        let dry = try await farm.operate("resume", "beta", "--dry-run")
        #expect(dry.hosts[0].text.contains("would take part"))
        #expect(try await farm.line("beta").state == "quiet")
        try await farm.operate("resume", "beta")
        #expect(try await farm.line("beta").state == "running")
        try await farm.shared(by: ["alpha", "beta"])
        try await load.more(1)
        // `scale` also starts workers that are stopped, drained or quiet.
        try await farm.operate("quiet", "alpha")
        try await farm.shared(by: ["beta"], within: .seconds(10))
        try await farm.operate("scale", "2", "alpha")
        try await farm.shared(by: ["alpha", "beta"])
        try await load.more(1)
        try await load.expectExactlyOnce()
    }

    @Test func `a quiet host without another keeps its shards, and a new host takes them`()
        async throws
    {
        let farm = try await Farm(
            hosts: Farm.twoHosts, Farm.Options(faults: Self.pace, appLines: ["budget: { max_rate: 500 }"]))
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let job = Job(id: "slow", tokens: Tokens.make(4_000))
        try farm.push([job])
        try await farm.gateway.requests(200)
        let quiet = try await farm.operate("quiet", "alpha")
        #expect(quiet.hosts[0].text.contains("no other host can serve its shards"), "\(quiet)")
        let requests = try farm.gateway.requestCount()
        let shares = try farm.shares()
        #expect(requests < 4_000 && shares == ["alpha": 64])
        let status = try await farm.run(["status"], on: "alpha")
        #expect(status.status == 1 && status.output.contains("alpha is quiet"), "\(status)")
        let stuck = try await farm.run(["jobs", "--stuck"], on: "alpha")
        #expect(
            stuck.status == 1 && stuck.output.contains("slow") && stuck.output.contains("quiet host"),
            "\(stuck)")
        #expect(try farm.gateway.requestCount() == requests)
        try farm.start("beta")
        try await farm.shared(by: ["beta"])
        #expect(try await farm.finished([job]).delivered == 4_000)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: job.tokens) == 0 && ledger.doubles == 0)
        #expect(try await farm.line("alpha").state == "quiet")
    }

    @Test func `a shard that an operator moves stays there until an operator moves it back`() async throws {
        let farm = try await farm()
        let load = try Load(farm)
        try await load.more(1)
        let usual = farm.expected(["alpha", "beta"])
        let shard = try #require((0..<10).first { usual["0\($0)"] == "alpha" })
        let moved = try await farm.run(["shards", "move", "\(shard)", "beta"], on: "alpha")
        #expect(moved.status == 0 && moved.output.contains("with beta"), "\(moved)")
        #expect(try farm.owners()["0\(shard)"] == "beta")
        try await load.more(1)
        #expect(try farm.owners()["0\(shard)"] == "beta")
        let none = try await farm.run(["shards", "move", "64", "beta"], on: "alpha")
        #expect(none.status == 2)
        let local = try await farm.run(["shards", "move", "7", "beta", "--local"], on: "alpha")
        #expect(local.status == 2 && local.error.contains("--local: "), "\(local)")
        // If the first host does not succeed, the command does not continue with the second host.
        try farm.folder.write("program: /none\n" + farm.configuration("alpha"), to: "alpha/pushfarm.yaml")
        try await farm.operate("reload", "alpha")
        let untold = try await farm.run(["upgrade", "all", "--json"], on: "alpha")
        #expect(
            untold.status == 1 && untold.output.contains(#""silent":[],"untold":["beta"]"#), "\(untold)")
        let back = try await farm.run(["shards", "move", "\(shard)", "auto", "--no-wait"], on: "alpha")
        #expect(back.status == 0)
        try await farm.shared(by: ["alpha", "beta"])
        try await load.more(1)
        try await load.expectExactlyOnce()
    }

    @Test func `an operator moves a shard away from a stopped owner`() async throws {
        let farm = try await farm()
        let load = try Load(farm)
        try await load.more(1)
        let usual = farm.expected(["alpha", "beta"])
        let shard = try #require((0..<10).first { usual["0\($0)"] == "beta" })
        let refused = try await farm.operate(
            "debug", "takeover", "\(shard)", "--app", "demo", "--host", "alpha", status: 1)
        #expect(refused.hosts[0].text.contains("beta owns it"))
        #expect(try farm.owners()["0\(shard)"] == "beta")
        for wrong in [["99", "--host", "alpha"], ["\(shard)", "--host", "gamma"]] {
            let none = try await farm.run(
                ["debug", "takeover", "--app", "demo", "--force"] + wrong, on: "alpha")
            #expect(none.status > 0 && none.error.contains("there is no shard 99") == (wrong[0] == "99"))
            #expect(!none.error.contains("sent twice"), "\(none)")
        }
        let unsure = try await farm.run(
            ["debug", "takeover", "\(shard)", "--app", "demo", "--host", "alpha", "--force"], on: "alpha")
        #expect(unsure.status == 2 && unsure.error.contains("may be sent twice"), "\(unsure)")
        farm.signal("beta", SIGSTOP)
        let taken = try await farm.operate(
            "debug", "takeover", "\(shard)", "--app", "demo", "--host", "alpha", "--force", "--yes",
            "\(shard)")
        #expect(taken.done == 1)
        #expect(try farm.owners()["0\(shard)"] == "alpha")
        farm.signal("beta", SIGCONT)
        try await load.more(2)
        #expect(try farm.owners()["0\(shard)"] == "alpha")
        try await load.expectBounded(workers: 2)
    }

    @Test func `an upgrade replaces the running program, and every push arrives once`()
        async throws
    {
        let metrics = try FreePort.take()
        let farm = try await farm(["alpha"], lines: ["metrics: { listen: \"\(metrics)\" }"])
        let load = try Load(farm)
        try await load.more(1)
        let old = farm.coordinator("alpha")
        // If the new program does not start, the upgrade fails and the old coordinator continues.
        let broken = try await farm.folder.program("#!/bin/sh\nexit 3\n", named: "broken")
        let plain = try farm.configuration("alpha")
        try farm.folder.write("program: \(broken)\n" + plain, to: "alpha/pushfarm.yaml")
        let reloaded = try await farm.operate("reload", "alpha")
        #expect(reloaded.hosts[0].text.contains("upgrade starts: the program of the configuration"))
        let refused = try await farm.operate("upgrade", "alpha", status: 1)
        #expect(refused.hosts[0].text.contains("exited(3)") && !old.hasEnded, "\(refused)")
        try await load.more(1)

        try farm.folder.write(plain, to: "alpha/pushfarm.yaml")
        try await farm.operate("reload", "alpha")
        try await farm.operate("upgrade", "all")
        #expect(try await old.wait(within: .seconds(20)) == .exited(0))
        let line = try await farm.line("alpha")
        #expect(line.pid != old.pid && line.workers.map(\.shards) == [32, 32])
        try await load.more(2)
        // In a second upgrade, with `--local`, the predecessor's last reply still arrives through the predecessor's socket.
        let local = try await farm.operate("upgrade", "alpha", "--local")
        #expect(local.hosts.map(\.state) == ["done"] && local.hosts[0].text.contains("taken over from"))
        try await load.more(1)
        // Each successor took over the metrics port without an error.
        try await eventually("the third one has it") {
            farm.log("alpha").split(separator: "metrics at=" + metrics).count == 4
        }
        #expect(!farm.log("alpha").contains("cannot serve metrics"), "\(farm.log("alpha"))")
        try await farm.operate("stop", "alpha")
        try await eventually("all processes have ended") { old.descendants.isEmpty }
        try farm.start("alpha")
        try await load.more(1)
        try await load.expectExactlyOnce()
    }

    /// Checks that an operation with a forged program is refused: a client with write access to Redis can add any operation.
    @Test func `an operation cannot name the program to run`() async throws {
        let farm = try await farm(["alpha"])
        let old = farm.coordinator("alpha")
        let trap = try await farm.folder.program(
            "#!/bin/sh\ntouch \(farm.folder.path)/sprung\n", named: "trap")
        let client = try farm.redis.client()
        let before = old.descendants
        for (number, words) in [
            ["--binary=\(trap)"], ["--binary", trap], ["--binary=\(trap)", "--abort"],
        ].enumerated() {
            let id = "forged-\(number)"
            try client.run("HSET", "{pushfarm}:operation:\(id)", "start_deadline", "99999999999999")
            try client.run(
                "XADD", "{pushfarm}:operations", "*", "id", id, "by", "test", "host", "alpha", "verb",
                "upgrade", "arguments", words.joined(separator: "\n"))
            try client.run("PUBLISH", "{pushfarm}:coordinators", "operation")
            let result = try await eventually("the operation has a reply") {
                try client.run("HGET", "{pushfarm}:operation:\(id)", "host:alpha").text
                    .flatMap { $0.hasPrefix("accepted") || $0.hasPrefix("working") ? nil : $0 }
            }
            #expect(
                result.hasPrefix("refused no operator names a program to run: set program in this host's")
            )
        }
        // The coordinator also refuses to start a configured program whose file other users may write.
        let plain = try farm.configuration("alpha")
        for (mode, reason) in [
            (0o775, "can be written by its group"), (0o757, "can be written by every user"),
        ] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: trap)
            try farm.folder.write("program: \(trap)\n" + plain, to: "alpha/pushfarm.yaml")
            try await farm.operate("reload", "alpha")
            let refused = try await farm.operate("upgrade", "alpha", status: 1)
            #expect(
                refused.hosts[0].state == "refused" && refused.hosts[0].text.contains(reason),
                "\(refused)")
        }
        #expect(!FileManager.default.fileExists(atPath: farm.folder.path + "/sprung"))
        #expect(!old.hasEnded && Set(old.descendants).isSuperset(of: before))
    }

    @Test func `the predecessor continues after an aborted upgrade, and the successor exits`()
        async throws
    {
        let farm = try await farm(["alpha"])
        let load = try Load(farm)
        try await load.more(1)
        let old = farm.coordinator("alpha")
        // The successor hangs before it is ready.
        let slow = try await farm.folder.program("#!/bin/sh\nexec sleep 300\n", named: "slow")
        try farm.folder.write(
            "program: \(slow)\n" + farm.configuration("alpha"), to: "alpha/pushfarm.yaml")
        try await farm.operate("reload", "alpha")
        let begun = try await farm.run(["upgrade", "alpha", "--no-wait"], on: "alpha")
        #expect(begun.status == 0, "\(begun)")
        let second = try await farm.operate("upgrade", "alpha", status: 1)
        #expect(second.hosts[0].text.contains("is running"))
        try await farm.operate("upgrade", "alpha", "--abort")
        try await eventually("aborted") { farm.log("alpha").contains("aborted; this one goes on") }
        // The hanging successor holds the host's locks and ignores messages, so the predecessor must end it.
        try await eventually("the successor has ended") {
            !old.descendants.contains { ProcessTable.isAbout("300", $0) }
        }
        try await load.more(1)
        #expect(!old.hasEnded)
        try await load.expectExactlyOnce()
    }

    @Test func `an upgrade that is aborted during the hand-over leaves the predecessor running`()
        async throws
    {
        let farm = try await farm(["alpha"])
        let load = try Load(farm)
        try await load.more(1)
        let old = farm.coordinator("alpha")
        let ours = try await farm.workers("alpha")
        // A shard is handed over only after the responses for its pushes have arrived. The slow gateway makes the hand-over long.
        try farm.gateway.control("latency 8000ms")
        try await load.more(1)
        let begun = try await farm.run(["upgrade", "alpha", "--no-wait"], on: "alpha")
        #expect(begun.status == 0, "\(begun)")
        try await eventually("shards are handed over") { farm.log("alpha").contains("handing over shards") }
        // Both coordinators get each command. The predecessor must reply to each command, and the successor to none.
        for _ in 0..<4 {
            let dry = try await farm.operate("upgrade", "alpha", "--abort", "--dry-run")
            #expect(dry.hosts[0].text.contains("would end the new coordinator"), "\(dry)")
        }
        // The successor's workers are stopped, so the successor exits slowly, but before the watchdog's limit.
        let theirs = old.descendants.filter { ProcessTable.isAbout("worker", $0) && !ours.contains($0) }
        #expect(theirs.count == 2)
        for other in theirs { farm.signal(child: other, of: "alpha", SIGSTOP) }
        let aborted = try await farm.operate("upgrade", "alpha", "--abort")
        #expect(aborted.hosts[0].text.contains("gives everything back"), "\(aborted)")
        // Also while the successor exits, only the predecessor may reply to commands. The commands run in parallel, so that the
        // test takes less time.
        let home = farm.folder.path + "/alpha"
        let purges = try (0..<3).map { number in
            try Child(
                "purge-\(number)", BuiltProgram.path,
                ["debug", "purge", "alpha", "--dry-run", "--config", home + "/pushfarm.yaml"], in: home)
        }
        for purge in purges { #expect(try await purge.wait() == .exited(0), "\(purge.error)") }
        for other in theirs { farm.signal(child: other, of: "alpha", SIGCONT) }
        try farm.gateway.control("latency 30ms")
        try await eventually("aborted") { farm.log("alpha").contains("aborted; this one goes on") }
        try await load.more(2)
        #expect(!old.hasEnded)
        try await farm.shared(by: ["alpha"])
        try await load.expectExactlyOnce()
    }

    @Test func `a service manager restarts a coordinator whose successor dies after the hand-over`()
        async throws
    {
        let farm = try await farm(["alpha"])
        let load = try Load(farm)
        try await load.more(1)
        let old = farm.coordinator("alpha")
        // The slow gateway leaves time to stop the successor before all shards are handed over.
        try farm.gateway.control("latency 8000ms")
        try await load.more(1)
        let begun = try await farm.run(["upgrade", "alpha", "--no-wait"], on: "alpha")
        #expect(begun.status == 0, "\(begun)")
        try await eventually("shards are handed over") { farm.log("alpha").contains("handing over shards") }
        let new = try #require(old.descendants.first { ProcessTable.isAbout("coordinator", $0) })
        farm.signal(child: new, of: "alpha", SIGSTOP)
        try farm.gateway.control("latency 30ms")
        try await eventually("the predecessor has nothing left") {
            farm.log("alpha").split(separator: "worker ended").count == 3
        }
        farm.signal(child: new, of: "alpha", SIGKILL)
        // A service manager restarts the coordinator after exit status 1, but not after exit status 2.
        #expect(try await old.wait(within: .seconds(30)) == .exited(1))
        #expect(farm.log("alpha").contains("handed over all shards: start the coordinator again"))
        try await eventually("all processes have ended") { old.descendants.isEmpty }
        try farm.start("alpha")
        try await load.more(1)
        try await load.expectExactlyOnce()
    }
}
