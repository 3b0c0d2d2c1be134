import Testing

/// Needs no Redis.
struct ExitStatusTests {
    private static let calls: [(String, Int32)] = [
        ("--help", 0), ("--version", 0), ("help push", 0), ("nonsense", 2), ("push", 2), ("job", 2),
        ("worker", 2), ("intake", 2),
        ("jobs --limit 0", 2), ("status --redis ftp://x", 2), ("status --set a", 2),
        ("status --config /nowhere.yaml", 2), ("up", 2), ("coordinator", 2), ("demo --pushes 0", 2),
        ("simulator --environment moon", 2),
        ("simulator --fault nonsense", 2), ("status --redis redis://127.0.0.1:1", 75),
        ("resume demo --redis unix:///nowhere/redis.sock", 75),
    ]

    @Test(arguments: calls)
    func `tells the caller by its status`(line: String, status: Int32) throws {
        let result = try BuiltProgram.run(line.split(separator: " ").map(String.init))
        #expect(result.status == status, "\(result)")
        #expect(result.output.isEmpty == (status != 0), "\(result)")
        #expect(result.error.isEmpty == (status == 0), "\(result)")
        #expect(!result.output.contains("\u{1B}") && !result.error.contains("\u{1B}"))
    }

    @Test func `every command shows an example`() throws {
        for command in [
            "up", "demo", "coordinator", "simulator", "push", "job", "jobs", "status", "resume", "doctor",
        ] {
            let help = try BuiltProgram.run(["help", command])
            #expect(help.output.contains("Example:"), "\(command)")
            #expect(help.output.contains("pushfarm \(command)"), "\(command)")
            #expect(help.output.contains("--config") && help.output.contains("--json"), "\(command)")
        }
    }

    @Test func `an error in the environment is named`() throws {
        let result = try BuiltProgram.run(["status"], ["PUSHFARM_WORKRS": "2"])
        #expect(result.status == 2)
        #expect(
            result.error
                == "pushfarm: environment PUSHFARM_WORKRS: unknown key; did you mean PUSHFARM_WORKERS?\n")
    }

    @Test func `a job that would be refused is not sent`() throws {
        let result = try BuiltProgram.run([
            "push", "--redis", "redis://127.0.0.1:1", "--app", "demo", "--token",
            String(repeating: "0", count: 64),
            "--payload", #"{"aps":{"alert":"x"}}"#, "--push-type", "background",
        ])
        #expect(result.status == 2, "\(result)")
        #expect(result.error.contains("background"))
    }
}
