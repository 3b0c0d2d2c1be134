import FarmHarness
import Foundation
import Testing

/// `pushfarm top` in a terminal.
@Suite(.startsProcesses) struct TopTests {
    private func top(_ farm: Farm, columns: Int = 80, rows: Int = 24) throws -> PseudoTerminal {
        try PseudoTerminal(
            "top", BuiltProgram.path,
            ["top", "--interval", "0.3", "--config", farm.folder.path + "/pushfarm.yaml"],
            columns: columns,
            rows: rows, in: farm.folder.path)
    }

    private func eventually(
        _ terminal: PseudoTerminal, _ what: String, _ condition: ([String]) -> Bool
    ) async throws {
        do {
            try await FarmHarness.eventually(what) { condition(terminal.lines) }
        } catch { throw Overdue(description: "\(error)\n\(terminal.lines.joined(separator: "\n"))") }
    }

    @Test
    func `top shows the farm under load, obeys keys and resizing, and restores the terminal`()
        async throws
    {
        // The gateway is slow, so the states that the test looks for stay on the screen long enough.
        let farm = try await Farm(
            Farm.Options(
                faults: ["latency 500ms"], simulatorOptions: ["--streams", "100"],
                appLines: ["max_conns: 2"]))
        _ = try await farm.ready()
        let terminal = try top(farm)
        try await eventually(terminal, "the app is listed") {
            $0[0].hasPrefix("pushfarm top  1 host  2 workers  1 app") && $0[0].hasSuffix("● live")
                && $0.contains { $0.hasPrefix("demo  running") }
        }
        // The first line is as wide as the terminal.
        #expect(terminal.lines[0].count == 80)
        try farm.push(Job.several("j", Tokens.make(20_000), size: 2000))
        try await eventually(terminal, "its rate is seen") { lines in
            lines[1].contains("▁") && lines[1].contains("█") && !lines[1].hasPrefix("0/s")
        }
        terminal.type("2")
        try await eventually(terminal, "workers") { $0.contains { $0.hasPrefix("here/0  ready") } }
        terminal.type("\r")
        try await eventually(terminal, "a worker by itself") { lines in
            lines.contains { $0.contains("› worker here/") }
                && lines.contains { $0.hasPrefix("in flight") }
        }
        terminal.resize(columns: 120, rows: 40)
        try await eventually(terminal, "a wider screen") {
            $0.count == 40 && $0[0].count == 120 && $0[39].contains("q quit")
        }
        terminal.resize(columns: 60, rows: 12)
        try await eventually(terminal, "a narrow one") { $0.count == 12 && $0[11].hasSuffix("q quit") }
        terminal.resize(columns: 80, rows: 24)
        terminal.type("\u{1B}[D4")
        try await eventually(terminal, "jobs") { $0.contains { $0.hasPrefix("j-") && $0.contains("%") } }
        terminal.type("\r")
        try await eventually(terminal, "a job by itself") { lines in
            lines.contains { $0.hasPrefix("accepted") && $0.hasSuffix("2,000") }
        }
        #expect(terminal.isAlternate && !terminal.isRestored)
        terminal.type("q")
        #expect(try await terminal.child.wait() == .exited(0))
        #expect(terminal.isRestored)
    }

    @Test func `top redraws everything after a terminal was blocked`() async throws {
        let farm = try await Farm(Farm.Options(workers: 1))
        _ = try await farm.ready()
        let terminal = try top(farm)
        try await eventually(terminal, "it is there") { $0[0].hasSuffix("● live") }
        // The keys before `x` cause more output than a terminal buffers. The key `x` has no effect. When `top` has read `x`,
        // `top` has drawn the output of all earlier keys.
        try await terminal.typeUnseen(String(repeating: "13", count: 30) + "2")
        try await terminal.typeUnseen("x")
        try await eventually(terminal, "workers") { lines in
            lines[4] == "1 Apps  2 Workers  3 Hosts  4 Jobs  5 Campaigns" && lines[5].hasPrefix("WORKER ")
                && lines[6].hasPrefix("here/0  ready") && lines[23].hasSuffix("q quit")
        }
        terminal.type("q")
        #expect(try await terminal.child.wait() == .exited(0))
        #expect(terminal.isRestored)
    }

    @Test(arguments: ["\u{3}", "TERM", "HUP"])
    func `top restores the terminal after every kind of exit`(end: String) async throws {
        let farm = try await Farm(Farm.Options(workers: 1))
        _ = try await farm.ready()
        let terminal = try top(farm)
        try await eventually(terminal, "it is there") { $0[0].hasSuffix("● live") }
        switch end {
        case "TERM": terminal.child.signal(SIGTERM)
        case "HUP": terminal.child.signal(SIGHUP)
        default: terminal.type(end)
        }
        #expect(try await terminal.child.wait() == .exited(0))
        #expect(terminal.isRestored)
    }

    @Test func `top reports an outage of Redis and continues after it`()
        async throws
    {
        let farm = try await Farm(Farm.Options(workers: 1))
        _ = try await farm.ready()
        let terminal = try top(farm)
        try await eventually(terminal, "it is there") { $0[0].hasSuffix("● live") }
        try await farm.redis.kill()
        try await eventually(terminal, "Redis is away") { lines in
            lines[0].contains("Redis away since ") && lines.contains { $0.hasPrefix("! Redis: ") }
                && lines.contains { $0.hasPrefix("demo") }
        }
        try await farm.redis.restart()
        try await eventually(terminal, "Redis is back") { $0[0].hasSuffix("● live") }
        terminal.type("q")
        #expect(try await terminal.child.wait() == .exited(0))
    }

    @Test func `without a terminal top writes plain lines`() async throws {
        let farm = try await Farm(Farm.Options(workers: 1))
        _ = try await farm.ready()
        let once = try await farm.run("top", "--once")
        #expect(once.status == 0 && !once.output.contains("\u{1B}"))
        let lines = once.output.split(separator: "\n")
        #expect(lines[0].contains("  farm  0/s  hosts 1  workers 1 of 1"), "\(once.output)")
        #expect(lines[1].contains("  app demo  running  0/s  errors 0/s  open 0"), "\(once.output)")
        let json = try await farm.run("top", "--once", "--json")
        let document = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        #expect((document?["hosts"] as? [Any])?.count == 1 && document?["troubles"] as? [String] == [])
        let child = try Child(
            "lines", BuiltProgram.path,
            ["top", "--interval", "0.2", "--config", farm.folder.path + "/pushfarm.yaml"],
            in: farm.folder.path)
        try await FarmHarness.eventually("it goes on") {
            child.output.split(separator: "\n").count { $0.contains("  farm  ") } >= 3
        }
        try await farm.redis.kill()
        try await FarmHarness.eventually("it waits for Redis") {
            child.output.contains("Redis is away: ")
        }
        #expect(!child.hasEnded)
        child.signal(SIGTERM)
        _ = try await child.wait()
    }
}
