import FarmHarness
import Foundation
import Testing

/// Runs every command that has --dry-run, from the program's own list of commands.
@Suite(.startsProcesses(limit: .seconds(240))) struct DryRunTests {
    @Test func `a dry run of any command changes nothing`() async throws {
        let stage = try await DryRunFarm()
        defer { stage.orphan.destroy() }
        let all = try await HelpCommand.all(of: stage.farm)
        let commands = all.filter { $0.has("dry-run") }
        let others = all.filter { !$0.has("dry-run") && $0.subcommands == nil }
        #expect(
            Set(others.map { $0.path.joined(separator: " ") }) == HelpCommand.withoutDryRun,
            "a command that changes something has --dry-run; one that does not is named there")
        try await eventually("the farm is at rest") {
            let first = try stage.snapshot()
            try await Task.sleep(for: .seconds(2))
            return try stage.snapshot() == first
        }
        for command in commands {
            let name = command.path.joined(separator: " ")
            let before = try stage.snapshot()
            var (done, last) = (0, "")
            for call in try stage.calls(of: command) {
                let result = try await stage.farm.run(
                    call + ["--dry-run", "--config", stage.farm.folder.path + "/pushfarm.yaml"])
                if result.status == 0 { done += 1 }
                last = "\(call): \(result)"
            }
            #expect(done > 0, "\(name) runs with nothing that the table has; at last \(last)")
            let after = try stage.snapshot()
            #expect(
                after.differences(from: before).isEmpty,
                "\(name) --dry-run: \(after.differences(from: before))")
        }
        // If a dry run had changed the log level to `critical`, the log would not contain this dump.
        let config = stage.farm.folder.path + "/pushfarm.yaml"
        #expect(try await stage.farm.run(["debug", "dump", "here", "--config", config]).status == 0)
        try await eventually("the log's level is as it was") {
            stage.farm.coordinator.error.contains(" dump ")
        }
    }
}

/// A command in the output of `pushfarm --experimental-dump-help`.
private struct HelpCommand: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable { var name: String }

        var kind: String
        var valueName: String?
        var isOptional: Bool
        var names: [Name]?
        var allValues: [String]?
    }

    private struct Dump: Decodable { var command: HelpCommand }

    /// Commands without --dry-run. These commands only read, run until they are stopped, or change a list in a way
    /// that an operator can undo.
    static let withoutDryRun: Set = [
        "backlog", "bandit simulate", "campaigns list", "campaigns plan", "campaigns show", "coordinator",
        "dead export", "dead list", "dead show", "demo",
        "doctor", "events",
        "debug feedback", "debug fsck", "devices export", "devices refused", "devices show", "find", "help",
        "job", "jobs", "lists list", "lists show", "paused", "ping", "refused list",
        "refused show", "screen", "segments count", "segments list",
        "segments sample", "shards list", "simulator control", "status", "suppressed add",
        "suppressed export", "suppressed import", "suppressed list", "suppressed remove", "top", "up",
    ]

    var commandName: String
    var subcommands: [HelpCommand]?
    var arguments: [Argument]?
    /// The command's full path: the names of its parent commands, then its own name.
    var path: [String] = []

    private enum CodingKeys: String, CodingKey { case commandName, subcommands, arguments }

    static func all(of farm: Farm) async throws -> [HelpCommand] {
        let text = try await farm.run(["--experimental-dump-help"]).output
        return try JSONDecoder().decode(Dump.self, from: Data(text.utf8)).command.allCommands(below: nil)
    }

    private func allCommands(below parent: [String]?) -> [HelpCommand] {
        var command = self
        command.path = parent.map { $0 + [commandName] } ?? []
        return [command] + (subcommands ?? []).flatMap { $0.allCommands(below: command.path) }
    }

    var options: [Argument] { (arguments ?? []).filter { $0.kind != "positional" } }
    var positionals: [Argument] { (arguments ?? []).filter { $0.kind == "positional" } }

    func has(_ option: String) -> Bool {
        options.contains { $0.names?.contains { $0.name == option } == true }
    }
}

/// The part of a host's heartbeat that commands can change.
private struct HostLine: CustomStringConvertible {
    private struct Status: Decodable {
        struct Worker: Decodable {
            var pid: Int
            var state: String
        }

        var state: String
        var workers: [Worker]
    }

    let description: String

    /// Parses a heartbeat.
    /// - Parameter line: "end nonce capacity apps JSON".
    init(_ line: String) throws {
        let parts = line.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        let status = try JSONDecoder().decode(Status.self, from: Data((parts.last ?? "").utf8))
        description = "\(parts[1...3]) \(status.state) \(status.workers.map { "\($0.pid) \($0.state)" })"
    }
}

/// A farm with at least one object for every command.
private final class DryRunFarm {
    struct Unknown: Error, CustomStringConvertible { let description: String }

    struct Snapshot: Equatable {
        var keys: [String: [UInt8]]
        var processes: [pid_t]
        var isOrphanAlive: Bool
        /// The number of operators' commands that were not dry runs.
        var operations: Int
        /// The number of log lines that only commands cause: changes of the log level, and dumps.
        var lines: Int

        func differences(from other: Snapshot) -> String {
            let names = Set(keys.keys).union(other.keys.keys).filter { keys[$0] != other.keys[$0] }
            var all = names.sorted()
            if processes != other.processes { all.append("processes \(other.processes) -> \(processes)") }
            if isOrphanAlive != other.isOrphanAlive {
                all.append("the process without a coordinator has ended")
            }
            if operations != other.operations { all.append("operations") }
            if lines != other.lines { all.append("the log") }
            return all.joined(separator: ", ")
        }
    }

    let farm: Farm
    /// A process that looks like a worker of an exited coordinator, so that `debug purge` finds a process to end.
    let orphan: Child
    private let token = Tokens.make(1, seed: 77)[0]
    /// The ids of a dead letter and of a refused job.
    private let ids: [String]

    init() async throws {
        var options = Farm.Options()
        options.apps = { started, _ in [App(started), App(started, name: "shop")] }
        farm = try await Farm(options)
        _ = try await farm.ready()
        let redis = try farm.redis.client()
        try farm.gateway.control("answer 400 reason=PayloadTooLarge")
        try farm.push(devices: [#"{"id":"d-1","token":"\#(token)"}"#])
        try await farm.devicesFinished()
        try farm.push([Job(id: "dead", tokens: Tokens.make(3))])
        _ = try await farm.finished("dead")
        try farm.gateway.control("calm")
        try farm.push(#"{"id":"wrong"}"#)
        try farm.folder.write(Job(id: "mended", tokens: [token]).text, to: "mended.json")
        try farm.folder.write(#"{"id":"d-1","token":"\#(token)"}"#, to: "devices.ndjson")
        for id in ["draft", "started", "new"] {
            try farm.folder.write(
                #"{"id":"\#(id)","segment":"all","payload":{"aps":{}},"start_at":"2999-01-01","spread":"1h"}"#,
                to: id + ".json")
        }
        let later = #""deliver_at":\#(Int(Date().timeIntervalSince1970) + 3600)"#
        try farm.push([Job(id: "later", tokens: Tokens.make(40, seed: 2), fields: later)])
        try farm.push([Job(id: "held", tokens: Tokens.make(5, seed: 3), fields: later)], to: "shop")
        try await eventually("the jobs wait") {
            let states = try redis.pipeline([
                ["HGET", "{pushfarm:demo}:job:later", "state"],
                ["HGET", "{pushfarm:shop}:job:held", "state"],
            ])
            return try states.allSatisfy { $0.text == "open" }
                && redis.run("XLEN", "{pushfarm:demo}:refused").integer == 1
        }
        ids = try ["dead", "refused"].map { stream in
            let entries = try redis.run("XRANGE", "{pushfarm:demo}:\(stream)", "-", "+", "COUNT", "1").array
            return entries?.first?.array?.first?.text ?? ""
        }
        for words in [
            ["pause", "shop"], ["pause", "demo", "--shard", "5"], ["pause", "--job", "held"],
            ["admission", "close", "shop"], ["rate", "shop", "5/s"],
            ["segments", "save", "fans", "tag:sport", "--app", "demo"], ["quiet", "here/1"],
            ["lists", "upload", farm.folder.path + "/devices.ndjson", "--name", "fans", "--app", "demo"],
            ["campaigns", "create", farm.folder.path + "/draft.json", "--app", "demo"],
            ["campaigns", "create", farm.folder.path + "/started.json", "--app", "demo", "--start"],
        ] {
            let result = try await farm.run(words + ["--config", farm.folder.path + "/pushfarm.yaml"])
            #expect(result.status == 0, "\(words): \(result)")
        }
        // The guard leaves this suppression pending until an operator confirms it.
        _ = try redis.run(
            "EVAL",
            "return redis.call('RPUSH', KEYS[1], cmsgpack.pack({ '05', 'B' .. string.rep('t', 40) }))",
            "1", "{pushfarm:demo}:unconfirmed")
        orphan = try Child(
            "orphan", "/bin/bash",
            [
                "-c",
                #"cd "$0" && mkfifo worker && exec 4<var/coordinator.lock && exec -a pushfarm cat worker"#,
                farm.folder.path,
            ],
            in: farm.folder.path)
        let pid = orphan.pid
        try await eventually("there is a worker without a coordinator") {
            ProcessTable.isAbout("worker", pid)
        }
        let seen = try await farm.run("debug", "purge", "all", "--dry-run")
        #expect(seen.output.contains("would end \(pid)"), "\(seen)")
    }

    /// All keys except parts that change without commands: heartbeats and figures of hosts, alerts, times of configuration, end
    /// times of leases, expiring keys, and the audit log.
    func snapshot() throws -> Snapshot {
        let redis = try farm.redis.client()
        var keys: [String: [UInt8]] = [:]
        for name in try redis.run("KEYS", "*").array?.compactMap(\.text) ?? [] {
            let moves = ["{pushfarm}:operation", "{pushfarm}:alert", "{pushfarm}:active_alerts"].contains {
                name.hasPrefix($0)
            }
            if moves || name.contains(":event_written:") { continue }
            if name == "{pushfarm}:hosts" {
                for (host, line) in try redis.run("HGETALL", name).fields {
                    keys[name + " " + host] = Array(try HostLine(line).description.utf8)
                }
            } else if name.hasSuffix(":owners") || name.hasSuffix(":admission") {
                let fields = try redis.run("HGETALL", name).fields.filter {
                    !$0.key.hasPrefix("until:") && $0.key != "configured"
                }
                keys[name] = Array(fields.sorted { $0.key < $1.key }.description.utf8)
            } else if name.contains(":campaign:") {
                // Redis stores a hash with a long value as a hash table, and a read may change the order of its fields.
                let fields = try redis.run("HGETALL", name).fields
                keys[name] = Array(fields.sorted { $0.key < $1.key }.description.utf8)
            } else if name.hasSuffix(":events") {
                let events = try redis.run("XRANGE", name, "-", "+").entries
                    .filter { $0["type"]?.hasPrefix("alert.") != true }
                keys[name] = Array(events.map { $0.sorted { $0.key < $1.key } }.description.utf8)
            } else {
                keys[name] = try redis.run("DUMP", name).bytes
            }
        }
        let operations = try redis.run("XRANGE", "{pushfarm}:operations", "-", "+").entries
        let log = farm.coordinator.error.split(separator: "\n")
        return Snapshot(
            keys: keys, processes: [farm.coordinator.pid] + farm.coordinator.descendants.sorted(),
            isOrphanAlive: !orphan.hasEnded,
            operations: operations.count { $0["verb"] != nil && $0["dry_run"] != "1" },
            lines: log.count { line in ["Z debug ", "Z trace ", " dump "].contains { line.contains($0) } })
    }

    /// Returns example values for an argument, chosen by the name of the argument's value.
    private func words(for argument: HelpCommand.Argument, of command: HelpCommand) throws -> [String] {
        if let all = argument.allValues, !all.isEmpty { return all }
        let known = [
            "app|job|all": ["demo", "shop", "later", "held", "all", "here"], "app": ["demo", "shop"],
            "job": ["later", "held"], "shard": ["5", "6"], "host": ["here"],
            "host[/worker]": ["here", "here/0"],
            "token": [token], "rate": ["7/s", "default"], "workers": ["1", "+1"], "level": ["critical"],
            "id": ids, "ids": ids, "name": ["fans"], "expression": ["tag:sport"],
            "file": ["devices.ndjson", "new.json"].map { farm.folder.path + "/" + $0 },
            "campaign": ["draft", "started"], "file|id": ["draft"],
        ]
        guard let words = known[argument.valueName ?? ""] else {
            throw Unknown(
                description:
                    "\(command.path): no word is known for <\(argument.valueName ?? "")>; add one to the table"
            )
        }
        return words
    }

    /// Options that select the object of a command.
    private var choices: [[String]] {
        [
            [], ["--shard", "5"], ["--all"], ["--job", "dead"], ["--token", token, "--alert", "Hi"],
            ["--token", token], ["--quarantined"],
            ["--file", farm.folder.path + "/mended.json"],
        ]
    }

    /// Returns the argument lists with which the test calls a command: its required arguments with each entry of `choices`.
    func calls(of command: HelpCommand) throws -> [[String]] {
        var calls = [command.path]
        for argument in command.positionals {
            let words = try words(for: argument, of: command).map { [$0] } + (argument.isOptional ? [[]] : [])
            calls = calls.flatMap { call in words.map { call + $0 } }
        }
        for option in command.options where !option.isOptional {
            let name = option.names?.first?.name ?? ""
            let words = [
                "app": "demo", "devices": "d-1", "file": farm.folder.path + "/devices.ndjson", "host": "here",
                "name": "new", "unseen": "9d", "user": "u-7",
            ]
            guard let word = words[name] else {
                throw Unknown(
                    description: "\(command.path): no word is known for --\(name); add one to the table")
            }
            calls = calls.map { $0 + ["--" + name, word] }
        }
        let possible = choices.filter {
            $0.allSatisfy { !$0.hasPrefix("--") || command.has(String($0.dropFirst(2))) }
        }
        calls = calls.flatMap { call in possible.map { call + $0 } }
        // The farm has two apps, so a command for one app needs the option `--app`.
        guard command.options.contains(where: { $0.isOptional && $0.names?.first?.name == "app" }) else {
            return calls
        }
        return calls + calls.map { $0 + ["--app", "demo"] }
    }
}
