import FarmHarness
import Foundation
import Testing

/// An isolated machine with its own systemd for one test (Tests/boot).
final class Machine {
    static let root = Repository.root

    /// The reason why the test's machine cannot run an isolated machine; nil if it can run one.
    static let obstacle: String? = {
        if let obstacle = Network.obstacle { return obstacle }
        guard FileManager.default.isExecutableFile(atPath: "/lib/systemd/systemd") else {
            return "systemd is not installed"
        }
        let groups = ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup"]
            .first { FileManager.default.fileExists(atPath: $0) }
        let probe = (groups ?? "/sys/fs/cgroup") + "/pushfarm-test-\(getpid())"
        guard mkdir(probe, 0o755) == 0 else { return "control groups cannot be made here" }
        rmdir(probe)
        return nil
    }()

    let folder: TestFolder
    private let process: Child
    private var systemd: pid_t = 0
    private var commands = 0

    /// - Parameter files: the content of each file on the machine. The keys are absolute paths without the first slash.
    init(_ files: [String: String], program: String) async throws {
        folder = try TestFolder()
        let root = folder.path + "/root"
        for (path, text) in files {
            try Self.makeFolder(of: root + "/" + path)
            try Data(text.utf8).write(to: URL(fileURLWithPath: root + "/" + path))
        }
        try await folder.install(program, as: "root/usr/bin/pushfarm")
        process = try Child("boot", Self.root.path + "/Tests/boot", [folder.path], in: folder.path)
        let file = folder.path + "/pid"
        systemd = try await eventually("the machine has a first process") {
            if process.hasEnded { throw Overdue(description: "no machine: \(process.error)") }
            let text = try? String(contentsOfFile: file, encoding: .utf8)
            return text.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        }
        try await eventually("systemd runs") {
            if process.hasEnded { throw Overdue(description: "no machine: \(process.error)") }
            return try await run("systemctl is-active multi-user.target").status == 0
        }
    }

    deinit {
        // At SIGTERM the program Tests/boot ends the machine and removes its control groups.
        process.signal(SIGTERM)
        let deadline = ContinuousClock.now + .seconds(10)
        while !process.hasEnded, ContinuousClock.now < deadline { usleep(20_000) }
        process.destroy()
    }

    private static func makeFolder(of path: String) throws {
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    }

    /// Runs a shell command line on the machine as root.
    func run(_ line: String) async throws -> Farm.Result {
        commands += 1
        let child = try Child(
            "run-\(commands)", "nsenter", ["--all", "--target", "\(systemd)", "/bin/sh", "-c", line],
            in: folder.path)
        guard case .exited(let status) = try await child.wait(within: .seconds(100)) else {
            throw Overdue(description: "\(line) was killed")
        }
        return Farm.Result(status: status, output: child.output, error: child.error)
    }

    /// Runs a shell command line that must succeed.
    @discardableResult
    func did(_ line: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let result = try await run(line)
        if result.status != 0 {
            let log = try await run("tail -n 30 /var/log/pushfarm-test.log")
            Issue.record("\(line): \(result) \(log.output)", sourceLocation: sourceLocation)
        }
        return result.output
    }

    /// Returns the properties of a unit from systemd.
    func show(_ unit: String) async throws -> [String: String] {
        let text = try await did("systemctl show \(unit)")
        let pairs = text.split(separator: "\n").map {
            $0.split(separator: "=", maxSplits: 1).map(String.init)
        }
        return Dictionary(
            pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") }, uniquingKeysWith: { first, _ in first })
    }
}
