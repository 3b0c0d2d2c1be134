import FarmHarness
import Foundation
import Manual
import Testing

/// Runs commands on a Redis with hostile values in all keys.
@Suite(.startsProcesses(limit: .seconds(480))) struct HostileCommandTests {
    /// Commands that the test skips because they run a service, change something, or wait.
    private static let others: Set<String> = [
        "up", "demo", "coordinator", "simulator", "push", "screen", "worker", "intake", "help",
    ]

    @Test func `no command crashes on hostile values in Redis`() async throws {
        let farm = try await Farm(Farm.Options(appLines: ["audit: {megabytes: 1}"]))
        try await fill(farm)
        // The test stops the coordinator, because a running coordinator would repair hostile values.
        farm.coordinator.signal(SIGTERM)
        _ = try await farm.coordinator.wait()
        let commands = try await commands(of: farm)
        #expect(commands.count > 40, "\(commands)")
        let hostile = HostileRedis(try farm.redis.client(), seed: 8)
        let names = try hostile.names()
        for round in 0..<2 {
            // In the first round, the registry of hosts keeps its values. With hostile values there, most commands would stop at
            // this key and never read the other keys.
            for name in names where !name.hasSuffix(":hosts") || round > 0 {
                try hostile.attack(name, round: round)
            }
            try await run(commands, on: farm, round)
            for name in names { try? hostile.restore(name) }
        }
    }

    private func run(_ commands: [[String]], on farm: Farm, _ round: Int) async throws {
        let width = 4
        for start in stride(from: 0, to: commands.count, by: width) {
            let some = try commands[start..<min(start + width, commands.count)].enumerated().map {
                offset, words in
                let child = try Child(
                    "hostile-\(round)-\(start + offset)", BuiltProgram.path,
                    words + ["--config", farm.folder.path + "/pushfarm.yaml"], in: farm.folder.path,
                    // Some commands write files into the current folder.
                    prefix: ["env", "-C", farm.folder.path])
                return (words, child)
            }
            for (words, child) in some {
                // A command that still waits for replies of hosts after this time has already read Redis, so the test ends it.
                if (try? await child.wait(within: .seconds(20))) == nil { child.destroy() }
                guard case .killed(let signal) = child.end, signal != SIGKILL else { continue }
                Issue.record("round \(round), \(words): signal \(signal), \(child.error.suffix(600))")
            }
        }
    }

    /// All commands of the program, with a value for each required argument, and with --dry-run if the command has it.
    private func commands(of farm: Farm) async throws -> [[String]] {
        let dump = try await farm.run(["--experimental-dump-help"])
        let root = try JSONDecoder().decode(CommandHelp.Dump.self, from: Data(dump.output.utf8)).command
        return leaves(of: root).flatMap { command -> [[String]] in
            let words = Array(command.words.dropFirst())
            guard let name = words.first, !Self.others.contains(name) else { return [] }
            let all = words + arguments(of: command)
            let options = (command.arguments ?? []).flatMap { $0.names ?? [] }.map(\.name)
            let more = [
                ("job", "plain"), ("token", Self.token), ("since", "90d"), ("reason", "BadPriority"),
            ]
            return [all] + (options.contains("json") ? [all + ["--json"]] : [])
                + more.filter { options.contains($0.0) }.map { all + ["--" + $0.0, $0.1] }
                + ["all", "running", "stuck", "eta"].filter { options.contains($0) }.map {
                    all + ["--" + $0]
                }
        }
    }

    private func leaves(of command: CommandHelp) -> [CommandHelp] {
        let below = command.visibleSubcommands
        return below.isEmpty ? [command] : below.flatMap { leaves(of: $0) }
    }

    private func arguments(of command: CommandHelp) -> [String] {
        var words: [String] = []
        for argument in command.arguments ?? []
        where argument.kind == "positional" && !argument.isOptional {
            words.append(Self.example(argument.valueName ?? ""))
        }
        let names = Set((command.arguments ?? []).flatMap { $0.names ?? [] }.map(\.name))
        for flag in ["dry-run", "no-wait", "once"] where names.contains(flag) {
            words.append("--" + flag)
        }
        for (option, value) in [("timeout", "1"), ("over", "0.1"), ("host", "here")]
        where names.contains(option) {
            words += ["--" + option, value]
        }
        let needsApp = (command.arguments ?? []).contains {
            !$0.isOptional && ($0.names ?? []).contains { $0.name == "app" }
        }
        if needsApp { words += ["--app", "demo"] }
        return words
    }

    private static let token = String(repeating: "ab", count: 32)

    private static func example(_ name: String) -> String {
        switch name {
        case "app", "apps": "demo"
        case "shard", "shards": "3"
        case "host", "target": "here"
        case "level": "info"
        case "act": "open"
        case "mode": "auto"
        case "token": token
        case "id", "ids": "1780000000123-0"
        case "worker": "here/0"
        case "rate": "5/s"
        case "count", "workers", "number": "2"
        default: "plain"
        }
    }

    private func fill(_ farm: Farm) async throws {
        let tokens = Tokens.make(30)
        let later = Int(Date().timeIntervalSince1970) + 86_400
        try farm.push([
            Job(id: "plain", tokens: Array(tokens[..<20]), fields: #""receipts":"all""#),
            Job(id: "later", tokens: Array(tokens[20...]), fields: #""deliver_at":\#(later)"#),
        ])
        try farm.push("no job at all")
        _ = try await farm.finished("plain")
        _ = try await farm.event("job.refused")
        try farm.redis.client().pipeline(
            [
                ["HSET", "{pushfarm:demo}:paused_jobs", "plain", "1780000000000 pause me why"],
                ["HSET", "{pushfarm:demo}:paused_shards", "3", "1780000000000 pause me why"],
            ] + HostileRedis.operatorEntries)
    }
}
