import FarmHarness
import FarmPolicy
import Foundation
import Testing

/// Commands that change workers under load, measured at the gateway. No push may be lost, duplicated or out of order.
@Suite(.startsProcesses(limit: .seconds(240))) struct WorkerCommandTests {
    private static let pace = ["latency 30ms", "streams 50"]

    @Test func `every push arrives once while workers start, stop, are quiet and restart`() async throws {
        let farm = try await Farm(hosts: ["alpha"], Farm.Options(faults: Self.pace))
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let load = try Load(farm)
        try await load.more(1)

        let more = try await farm.operate("scale", "4", "all")
        #expect(more.done == 1 && more.hosts[0].text.hasPrefix("4 workers (before: 2)"))
        try await load.more(1)
        try await farm.operate("scale", "+1", "alpha")
        #expect(try await farm.line("alpha").workers.count == 5)
        try await farm.operate("scale", "-1", "alpha")
        #expect(try await farm.line("alpha").workers.count == 4)
        try await farm.operate("scale", "2", "all")
        let line = try await farm.line("alpha")
        #expect(line.workers.map(\.worker) == ["0", "1"] && line.workers.allSatisfy { $0.shards == 32 })
        try await load.more(1)

        let before = line.workers.map(\.pid)
        try await farm.operate("restart", "alpha/1")
        var pids = try await farm.line("alpha").workers.map(\.pid)
        #expect(pids[0] == before[0] && pids[1] != before[1])
        try await load.more(1)
        try await farm.operate("restart", "all", "--rolling")
        let again = try await farm.line("alpha").workers.map(\.pid)
        #expect(Set(again).isDisjoint(with: pids) && again.count == 2)
        pids = again
        // Exits that operators ask for are not crashes.
        let planned = try await farm.line("alpha")
        #expect(planned.workers.map(\.restarts) == [0, 0] && planned.intake.restarts == 0)

        try await farm.operate("drain", "alpha/0")
        let drained = try await farm.line("alpha").workers
        #expect(drained.map(\.shards) == [0, 64] && drained.map(\.pid) == pids)
        // The farm refuses to drain the last serving worker.
        let refused = try await farm.operate("drain", "alpha/1", status: 1)
        #expect(
            refused.hosts[0].state == "refused" && refused.hosts[0].text.contains("only one that serves"))
        try await load.more(1)
        try await farm.operate("stop", "alpha/0")
        try await farm.operate("stop", "alpha/0")
        try await load.more(1)
        try await farm.operate("restart", "alpha/0")
        let woken = try await farm.line("alpha").workers
        #expect(woken.map(\.shards) == [32, 32] && woken[0].pid != pids[0])
        try await load.more(1)

        // `scale` also starts workers that an operator has stopped.
        try await farm.operate("stop", "alpha/1")
        try await farm.operate("debug", "dump", "alpha/1", status: 1)
        let last = try await farm.operate("stop", "alpha/0", status: 1)
        #expect(last.hosts[0].text.contains("only one that serves"), "\(last)")
        try await farm.operate("quiet", "alpha/0")
        try await farm.operate("scale", "2", "all")
        let both = try await farm.line("alpha").workers
        #expect(both.map(\.state) == ["ready", "ready"] && both.map(\.shards) == [32, 32], "\(both)")
        try await load.more(1)

        try await farm.operate("quiet", "alpha/0")
        try await farm.operate("restart", "alpha/0")
        try await farm.operate("scale", "auto", "all")
        try await farm.operate("scale", "+0", "all")
        try await farm.operate("scale", "default", "all")
        #expect(try await farm.line("alpha").workers.count == 2)
        try await load.more(2)
        try await load.expectExactlyOnce()
    }

    @Test func `a rolling restart waits until the previous worker delivers again`() async throws {
        let farm = try await Farm(hosts: ["alpha"])
        let manager = try NotifySocket("@pushfarm-test-\(UUID())")
        try farm.start("alpha", environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "1000000"])
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let before = try await farm.workers("alpha")
        // From now on no worker can connect to the gateway, although there are pushes to deliver.
        try farm.gateway.control("close-new 1h")
        try farm.gateway.control("cut now")
        let job = Job(id: "waits", tokens: Tokens.make(200))
        try farm.push([job])
        try await eventually("the coordinator has counted them") {
            manager.listen()
            return manager.heard.joined().contains {
                $0.hasPrefix("STATUS=") && $0.hasSuffix(" 200 open")
            }
        }
        let home = farm.folder.path + "/alpha"
        let restart = try Child(
            "restart", BuiltProgram.path,
            ["restart", "all", "--rolling", "--config", home + "/pushfarm.yaml"], in: home)
        let first = try await eventually("the first worker is another process") {
            let workers = try await farm.line("alpha").workers
            return workers[0].pid != before[0] && workers[0].state == "ready" ? workers[0].pid : nil
        }
        try await Task.sleep(for: .seconds(4))
        #expect(try await farm.line("alpha").workers.map(\.pid) == [first, before[1]])
        try farm.gateway.control("close-new off")
        #expect(try await restart.wait(within: .seconds(100)) == .exited(0), "\(restart.error)")
        let after = try await farm.line("alpha").workers.map(\.pid)
        #expect(after[0] == first && after[1] != before[1])
        #expect(try await farm.finished([job]).delivered == 200)
    }

    @Test func `an operator's kill of a worker duplicates at most its window and makes no push suspect`()
        async throws
    {
        let farm = try await Farm(hosts: ["alpha"], Farm.Options(faults: Self.pace))
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let load = try Load(farm)
        try await load.more(1)
        for arguments in [["debug", "kill", "alpha/0"], ["debug", "kill", "alpha/1", "--abrt"]] {
            let before = try await farm.workers("alpha")
            let result = try await farm.run(arguments, on: "alpha")
            #expect(result.status == 0, "\(result)")
            try await eventually("another process is ready") {
                let now = try await farm.line("alpha").workers
                return now.count { before.contains($0.pid) } == 1
                    && now.allSatisfy { $0.state == "ready" }
            }
        }
        try await load.more(2)
        try await load.expectBounded(workers: 2)
        let suspects = try farm.redis.client().run("EXISTS", "{pushfarm:demo}:paused_jobs").integer
        #expect(suspects == 0)
        #expect(farm.log("alpha").contains("killed(signal: 6)"))
    }

    @Test func `a reload does not override an operator's number of workers`() async throws {
        let farm = try await Farm(hosts: ["alpha"])
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        try await farm.operate("scale", "3", "all")
        let plain = try farm.configuration("alpha")
        try farm.folder.write(
            plain.replacing("workers: 2", with: "workers: 1"), to: "alpha/pushfarm.yaml")
        let reloaded = try await farm.operate("reload", "alpha")
        #expect(reloaded.hosts[0].text.contains("workers: 1, when scale default ends 3"), "\(reloaded)")
        // Neither the coordinator's periodic checks nor SIGHUP change the number of workers that the operator has set.
        farm.coordinator("alpha").signal(SIGHUP)
        try await eventually("it is read again") {
            farm.log("alpha").split(separator: "configuration reloaded").count == 3
        }
        try await farm.operate("debug", "log-level", "info", "all")
        #expect(try await farm.line("alpha").workers.count == 3)
        #expect(!farm.log("alpha").contains("fewer workers"))
        try await farm.operate("scale", "default", "all")
        try await eventually("the configuration counts again") {
            try await farm.line("alpha").workers.count == 1
        }
    }

    @Test func `endless wake-up messages do not grow the coordinator's memory`() async throws {
        let farm = try await Farm(hosts: ["alpha"])
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let client = try farm.redis.client()
        let coordinator = farm.coordinator("alpha")
        let before = try #require(ProcessTable.residentBytes(of: coordinator.pid))
        let messages = [
            "refresh", "operation", "hosts", "quarantine_ended", "feedback demo", "leases_released demo",
        ]
        for round in 0..<20 {
            try client.pipeline(
                (0..<1_000).map { ["PUBLISH", "{pushfarm}:coordinators", messages[$0 % 6]] }
                    + (0..<1_000).map { ["PUBLISH", "{pushfarm}:coordinators", "left host-\(round)-\($0)"] }
                    + (0..<1_000).map { _ in ["PUBLISH", "{pushfarm}:coordinators", "hosts"] }
                    + (0..<1_000).map {
                        ["PUBLISH", "{pushfarm:demo}:wakeups", $0 % 2 == 0 ? "*" : "pauses"]
                    })
        }
        // A delivered job shows that the farm still works and has processed all earlier messages.
        let job = Job(id: "behind", tokens: Tokens.make(100))
        try farm.push([job])
        #expect(try await farm.finished([job]).delivered == 100)
        try await farm.operate("scale", "3", "all")
        let after = try #require(ProcessTable.residentBytes(of: coordinator.pid))
        #expect(after < before + 40 << 20, "\(before) became \(after)")
    }

    @Test func `no setting makes a host start more workers than it can run`() async throws {
        let farm = try await Farm(hosts: ["alpha"])
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let most = DesiredWorkers.most(
            processors: ProcessInfo.processInfo.activeProcessorCount, memory: 0, configured: 2)
        let refused = try await farm.operate("scale", "300", "all", status: 1)
        #expect(refused.hosts[0].text.contains("this machine supports at most"), "\(refused)")
        try farm.redis.client().run("HSET", "{pushfarm}:desired", "scale:alpha", "300")
        try farm.redis.client().run("PUBLISH", "{pushfarm}:coordinators", "refresh")
        try await eventually("it says so") {
            farm.log("alpha").contains("the number of workers is limited by this machine")
        }
        try await farm.operate("scale", "2", "all")
        let started = farm.log("alpha").split(separator: "worker started").count - 1
        #expect(started <= most + 2, "\(started) workers were started, of \(most)")
    }

    @Test func `repeated, late, invalid and dry-run commands change nothing`() async throws {
        let farm = try await Farm(hosts: ["alpha"])
        try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let before = try await farm.workers("alpha")
        for arguments in [
            ["scale", "5", "all"], ["restart", "all"], ["drain", "alpha"], ["stop", "alpha"],
            ["debug", "kill", "alpha/0"],
            ["upgrade", "alpha"], ["quiet", "alpha"], ["debug", "purge", "all"],
            ["debug", "log-level", "debug", "all"], ["reload", "all"],
        ] {
            let result = try await farm.run(arguments + ["--dry-run"], on: "alpha")
            #expect(result.status == 0, "\(arguments): \(result)")
        }
        let refusals = [
            ["scale", "none", "all"], ["debug", "kill", "alpha/7"],
            ["debug", "log-level", "loud", "all"],
            ["quiet", "nobody"], ["debug", "takeover", "99", "--app", "demo", "--host", "alpha"],
        ]
        for arguments in refusals {
            let result = try await farm.run(arguments, on: "alpha")
            #expect(
                result.status == 1 && !(result.output + result.error).isEmpty, "\(arguments): \(result)")
        }
        let many = try await farm.operate("scale", "many", "all", status: 1)
        #expect(many.hosts[0].text == "workers: N, +N, -N, auto or default, not many")
        // The test sends a command with an id that was already used, and a command whose deadline has passed.
        let client = try farm.redis.client()
        try client.run("HSET", "{pushfarm}:operation:late", "start_deadline", "1000")
        for (id, number) in [("late", "4"), ("once", "3"), ("once", "5")] {
            if id == "once" {
                try client.run("HSET", "{pushfarm}:operation:once", "start_deadline", "99999999999999")
            }
            try client.run(
                "XADD", "{pushfarm}:operations", "*", "id", id, "by", "test", "host", "*", "verb",
                "scale",
                "arguments", number)
            try client.run("PUBLISH", "{pushfarm}:coordinators", "operation")
        }
        try await eventually("the one that is in time is done") {
            try await farm.line("alpha").workers.count { $0.state == "ready" } == 3
        }
        try await farm.operate("scale", "2", "all")
        #expect(try await farm.line("alpha").workers.map(\.pid) == before)
        #expect(try client.run("HGET", "{pushfarm}:operation:late", "host:alpha").text == nil)
        // The repeated command was executed only once, so it has one reply.
        let operations = try client.run("XRANGE", "{pushfarm}:operations", "-", "+").entries
        #expect(operations.count { $0["of"] == "once" } == 1, "\(operations)")
    }

    @Test func `the control socket accepts commands for its host during an outage of Redis`() async throws {
        let farm = try await Farm(hosts: ["alpha"])
        let alpha = try farm.start("alpha")
        try await farm.shared(by: ["alpha"], within: .seconds(20))
        let local = try await farm.operate("scale", "3", "all", "--local")
        #expect(local.done == 1)
        let astray = try await farm.operate("scale", "2", "beta", "--local", status: 1)
        #expect(astray.hosts[0].text == "the command is for the host beta, but this host is alpha")
        farm.redis.process.signal(SIGKILL)
        _ = try await farm.redis.process.wait()
        let dump = try await farm.run(["debug", "dump", "alpha"], on: "alpha")
        #expect(dump.status == 0 && dump.error.contains("control socket"), "\(dump)")
        #expect(farm.log("alpha").contains("dump host="))
        let other = try await farm.run(["debug", "dump", "beta"], on: "alpha")
        #expect(other.status == 75)
        try await farm.operate("stop", "alpha")
        #expect(try await alpha.wait(within: .seconds(60)) == .exited(0))
        let late = try await farm.run(["stop", "alpha", "--local"], on: "alpha")
        #expect(late.status == 75)
    }
}
