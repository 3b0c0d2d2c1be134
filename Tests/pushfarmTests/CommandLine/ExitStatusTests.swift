import ArgumentParser
import Testing

@testable import pushfarm

/// Checks the exit statuses and error messages of commands that need no Redis.
struct ExitStatusTests {
    private static let calls: [(String, Int32)] = [
        ("--help", 0), ("--version", 0), ("help push", 0), ("help all", 0), ("help", 0), ("scale 2", 2),
        ("reload", 2), ("pause", 2),
        ("resume --quarantined", 2), ("debug purge", 2), ("debug fsck --repair", 2), ("nonsense", 2),
        ("push", 2), ("job", 2),
        ("worker", 2), ("intake", 2),
        ("jobs --limit 0", 2), ("status --redis ftp://x", 2), ("status --set a", 2),
        ("status --config /nowhere.yaml", 2), ("up", 2), ("coordinator", 2), ("demo --pushes 0", 2),
        ("demo --set apps.demo.max_conns=900", 2), ("demo --set redis=redis://127.0.0.1:1", 2),
        ("demo --set apps.demo.gateway=https://127.0.0.1:1", 2), ("demo --set apps.demo.topic=a.b", 2),
        ("demo --set apps.mail.max_conns=2", 2), ("demo --redis redis://127.0.0.1:1", 2),
        ("demo --config /nowhere.yaml", 2),
        ("simulator --environment moon", 2),
        ("simulator --fault nonsense", 2), ("status --redis redis://127.0.0.1:1", 75),
        ("resume demo --redis unix:///nowhere/redis.sock", 75),
    ]

    @Test(arguments: calls)
    func `a command line has its exit status`(line: String, status: Int32) async throws {
        let result = try await ProgramRun.run(line.split(separator: " ").map(String.init))
        #expect(result.status == status, "\(result)")
        #expect(result.output.isEmpty == (status != 0), "\(result)")
        #expect(result.error.isEmpty == (status == 0), "\(result)")
        #expect(!result.output.contains("\u{1B}") && !result.error.contains("\u{1B}"))
    }

    private static let wrong = [
        "refused show x", "refused resubmit 1-x", "refused resubmit 1-0 --file /nowhere", "refused drop 1",
        "dead show 1_0", "dead drop 1-", "replay 1-0 x-1", "pause --token zz --app a",
        "resume --token zz --app a", "find --token zz", "find --apns-id 1",
        "push --token zz --alert x --app a", "push --token zz --alert x",
        "push --user u --device d --alert x --app a", "push --user u --token 00 --alert x",
        "push --token 00 --payload {", "push --tokens-file /nowhere --alert x", "suppressed list --token zz",
        "suppressed add --token zz", "suppressed add --tokens-file /nowhere",
        "suppressed remove --tokens-file /nowhere", "suppressed import /nowhere",
        "screen --app a --tokens-file /nowhere", "debug takeover 1 --app a --host h --force --yes 2",
        "devices import /nowhere --format csv --app a", "devices import /dev/null --app a",
        "devices import /dev/null --format csv --app a", "devices import /dev/null --format xml --app a",
        "devices set d --token zz --app a", "devices set d --app a", "devices refused --limit 0",
        "devices prune --app a",
        "devices prune --unseen 5s --app a",
        "devices show --app a", "devices show d --user u --app a", "devices show --token zz --app a",
        "devices export /dev/null --app a", "devices export /dev/null --format xml --app a",
        "segments save all tag:a --app a", "segments save s --app a",
        "segments count tags:a --app a", "segments sample tags:a --app a", "segments save s tags:a --app a",
        "campaigns create /nowhere --app a", "campaigns create /dev/null --app a",
        "campaigns create /dev/null", "campaigns plan /dev/null --app a",
        "campaigns test /dev/null --devices d --app a", "campaigns plan missing.json --app a",
        "campaigns plan there/c", "campaigns test missing.yaml --devices d --app a", "campaigns plan",
        "campaigns plan - --requests x", "campaigns rate c 5 --app a", "campaigns list --limit 0",
        "campaigns done c --file /nowhere", "campaigns done c --file /dev/null --format xml",
        "campaigns done c --file /dev/null --format csv",
        "rate a x", "admission shut a", "events --type nonsense", "jobs --limit x",
    ]

    @Test(arguments: wrong) func `wrong input is reported before a connection is made`(line: String)
        async throws
    {
        let words = line.split(separator: " ").map(String.init)
        let result = try await ProgramRun.run(words + ["--redis", "redis://127.0.0.1:1"])
        #expect(result.status == 2 && result.output.isEmpty && !result.error.isEmpty, "\(result)")
    }

    @Test func `an unknown option gets only a similar name`() async throws {
        let renamed = try await ProgramRun.run(["screen", "--tokens-file", "a", "--anew"])
        #expect(
            renamed.status == 2 && renamed.error.hasPrefix("Error: Unknown option '--anew'\n"), "\(renamed)")
        let typo = try await ProgramRun.run(["screen", "--tokens-file", "a", "--rat", "5"])
        #expect(typo.error.hasPrefix("Error: Unknown option '--rat'. Did you mean '--rate'?\n"), "\(typo)")
    }

    /// The program would break longer lines at column 79, in the middle of a table or an example.
    @Test func `no line of the help is too wide`() {
        func check(_ command: any ParsableCommand.Type) {
            for line in command.configuration.discussion.split(separator: "\n") where line.count > 79 {
                Issue.record("\(command): \(line)")
            }
            for each in command.configuration.subcommands { check(each) }
        }
        check(Pushfarm.self)
    }

    @Test func `every command shows an example`() async throws {
        for command in [
            "up", "demo", "coordinator", "simulator", "push", "job", "jobs", "status", "top", "resume",
            "doctor", "scale", "quiet", "drain", "stop", "restart", "upgrade", "reload", "pause", "paused",
            "cancel", "promote", "rate", "admission", "backlog", "replay", "debug takeover", "debug kill",
            "debug purge", "debug dump", "debug log-level", "debug fsck", "debug feedback",
        ] {
            let help = try await ProgramRun.run(["help"] + command.split(separator: " ").map(String.init))
            #expect(help.output.contains("Example"), "\(command)")
            #expect(help.output.contains("pushfarm \(command)"), "\(command)")
            // `demo` reads no configuration file, only its own flags.
            #expect(help.output.contains("--config") == (command != "demo"), "\(command)")
            #expect(help.output.contains("--json"), "\(command)")
        }
    }

    /// One command line for each command. The line has all required arguments, so that the unknown key that a test adds
    /// is the only mistake.
    private static let lines = [
        "up --simulate", "demo", "coordinator", "simulator --port 0", "simulator control counters",
        "push --app a --token 0011223344556677 --alert x", "screen --app a --tokens-file /dev/null", "job j",
        "jobs",
        "status", "top --once", "resume a", "suppressed list",
        "suppressed add --token 0011223344556677 --app a",
        "suppressed remove --token 0011223344556677 --app a", "suppressed export",
        "suppressed import /dev/null", "devices set d --token 0011223344556677 --app a",
        "devices remove d --app a", "devices forget --user u --app a",
        "devices import /dev/null --format ndjson --app a", "devices refused",
        "devices prune --unseen 9d --app a",
        "devices show d --app a",
        "devices export - --format csv --app a", "segments count tag:a --app a", "segments list --app a",
        "segments save s tag:a --app a", "segments remove s --app a", "segments sample tag:a --app a",
        "campaigns create /dev/null --app a", "campaigns plan c --app a", "campaigns start c",
        "campaigns pause c",
        "campaigns resume c", "campaigns cancel c", "campaigns rate c 5/s", "campaigns show c",
        "campaigns list --app a", "campaigns done c --file /dev/null",
        "debug feedback all", "debug fsck",
        "doctor", "ping",
        "pause a", "cancel j", "promote j", "rate a 5/s", "admission open a", "paused", "backlog",
        "dead list", "replay --job j", "refused list", "events", "find --job j",
        "bandit simulate --arms 0.1,0.2 --policy even", "scale 2 all", "quiet h", "drain h", "stop h",
        "restart all", "upgrade all", "reload all",
        "shards", "shards move 1 h", "debug takeover 1 --app a --host h", "debug kill h/0",
        "debug purge all", "debug dump h",
        "lists upload /dev/null --format ndjson --name l --app a", "lists list --app a",
        "lists show l --app a",
        "lists remove l --app a",
        "debug log-level debug all", "pause --job j", "pause --app a", "pause --shard 1 --app a",
        "pause --token 0011223344556677 --app a", "resume --quarantined all",
    ]

    @Test func `every command checks the known keys`() {
        let tried = Set(Self.lines.compactMap { $0.split(separator: " ").first.map(String.init) })
        let known = Pushfarm.configuration.subcommands.compactMap { $0.configuration.commandName }
        #expect(known.count == Pushfarm.configuration.subcommands.count)
        #expect(tried == Set(known))
    }

    @Test(arguments: lines) func `an unknown key of a flag gets the nearest name`(line: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        let result = try await ProgramRun.run(words + ["--set", "apps.demo.max_cons=3"])
        #expect(result.status == 2 && result.output.isEmpty, "\(result)")
        #expect(
            result.error
                == "pushfarm: --set: apps.demo.max_cons: unknown key; did you mean apps.APP.max_conns?\n")
    }

    /// The demo is excluded, because the environment has no effect on it.
    @Test(arguments: lines.filter { $0 != "demo" })
    func `an unknown key of a variable gets the nearest name`(line: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        let result = try await ProgramRun.run(words, ["PUSHFARM_APPS_DEMO_MAX_CONS": "3"])
        #expect(result.status == 2 && result.output.isEmpty, "\(result)")
        #expect(result.error.contains("environment PUSHFARM_APPS_DEMO_MAX_CONS: unknown key"), "\(result)")
        #expect(result.error.contains("did you mean PUSHFARM_APPS_APP_MAX_CONNS?"), "\(result)")
    }

    @Test func `an error in the environment names the variable`() async throws {
        let result = try await ProgramRun.run(["status"], ["PUSHFARM_WORKRS": "2"])
        #expect(result.status == 2)
        #expect(
            result.error
                == "pushfarm: environment PUSHFARM_WORKRS: unknown key; did you mean PUSHFARM_WORKERS?\n")
    }

    @Test func `an invalid job is not sent`() async throws {
        let result = try await ProgramRun.run([
            "push", "--redis", "redis://127.0.0.1:1", "--app", "demo", "--token",
            String(repeating: "0", count: 64),
            "--payload", #"{"aps":{"alert":"x"}}"#, "--push-type", "background",
        ])
        #expect(result.status == 2, "\(result)")
        #expect(result.error.contains("background"))
        let typo = try await ProgramRun.run([
            "push", "--redis", "redis://127.0.0.1:1", "--app", "demo", "--token", "abc", "--alert", "x",
        ])
        #expect(typo.status == 2 && typo.output.isEmpty, "\(typo)")
        #expect(
            typo.error == "pushfarm: no push was sent: abc: a token must have an even number of hex digits\n")
    }
}
