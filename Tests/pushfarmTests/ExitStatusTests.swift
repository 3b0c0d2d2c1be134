import Foundation
import Testing

/// Starts the built program. Needs no Redis.
struct ExitStatusTests {
    /// Beside the test bundle.
    private static var program: URL {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appendingPathComponent("pushfarm")
    }

    private func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> (
        status: Int32, output: String, error: String
    ) {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = arguments
        process.environment = environment
        process.currentDirectoryURL = FileManager.default.temporaryDirectory
        let (output, error) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, complaint)
    }

    private static let calls: [(String, Int32)] = [
        ("--help", 0), ("--version", 0), ("help push", 0), ("nonsense", 2), ("push", 2), ("job", 2),
        ("worker", 2),
        ("jobs --limit 0", 2), ("status --redis ftp://x", 2), ("status --set a", 2),
        ("status --config /nowhere.yaml", 2), ("status --redis redis://127.0.0.1:1", 75),
        ("resume demo --redis unix:///nowhere/redis.sock", 75),
    ]

    @Test(arguments: calls)
    func `tells the caller by its status`(line: String, status: Int32) throws {
        let result = try run(line.split(separator: " ").map(String.init))
        #expect(result.status == status, "\(result)")
        #expect(result.output.isEmpty == (status != 0), "\(result)")
        #expect(result.error.isEmpty == (status == 0), "\(result)")
        #expect(!result.output.contains("\u{1B}") && !result.error.contains("\u{1B}"))
    }

    @Test func `every command shows an example`() throws {
        for command in ["push", "job", "jobs", "status", "resume", "doctor"] {
            let help = try run(["help", command])
            #expect(help.output.contains("Example:"), "\(command)")
            #expect(help.output.contains("pushfarm \(command)"), "\(command)")
            #expect(help.output.contains("--config") && help.output.contains("--json"), "\(command)")
        }
    }

    @Test func `an error in the environment is named`() throws {
        let result = try run(["status"], ["PUSHFARM_WORKRS": "2"])
        #expect(result.status == 2)
        #expect(
            result.error
                == "pushfarm: environment PUSHFARM_WORKRS: unknown key; did you mean PUSHFARM_WORKERS?\n")
    }

    @Test func `a job that would be refused is not sent`() throws {
        let result = try run([
            "push", "--redis", "redis://127.0.0.1:1", "--app", "demo", "--token",
            String(repeating: "0", count: 64),
            "--payload", #"{"aps":{"alert":"x"}}"#, "--push-type", "background",
        ])
        #expect(result.status == 2, "\(result)")
        #expect(result.error.contains("background"))
    }
}
