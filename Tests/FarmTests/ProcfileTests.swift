import FarmHarness
import Foundation
import Testing

/// Runs the lines of the Procfile in a shell, as foreman does.
@Suite(.startsProcesses) struct ProcfileTests {
    private static let root = Repository.root

    @Test(.enabled(if: Network.obstacle == nil, Comment(rawValue: Network.obstacle ?? "")))
    func `the Procfile starts a farm that delivers, in an empty folder`() async throws {
        let folder = try TestFolder()
        // The simulator's port is fixed, so the test uses its own network namespace.
        let network = try Network(["here"])
        let files = FileManager.default
        for name in [".build/release", "deploy"] {
            try files.createDirectory(
                atPath: folder.path + "/" + name, withIntermediateDirectories: true)
        }
        try files.createSymbolicLink(
            atPath: folder.path + "/.build/release/pushfarm", withDestinationPath: BuiltProgram.path)
        try folder.copy(
            Self.root.appendingPathComponent("deploy/simulated.yaml").path, to: "deploy/simulated.yaml")
        let lines = try String(contentsOf: Self.root.appendingPathComponent("Procfile"), encoding: .utf8)
            .split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1) }
        #expect(lines.map { $0[0] } == ["redis", "simulator", "coordinator"])
        // The test starts the processes in reverse order, so the coordinator starts first and must wait for Redis and the
        // simulator.
        let processes = try lines.reversed().map { line in
            try Child(
                String(line[0]), "/bin/sh", ["-c", "cd '\(folder.path)' && \(line[1])"],
                in: folder.path, prefix: network.prefix("here"))
        }
        defer { for process in processes { process.destroy() } }
        let push = try Child(
            "push", "/bin/sh",
            [
                "-c",
                """
                cd '\(folder.path)'; until [ -S var/redis.sock ]; do sleep 0.1; done
                exec .build/release/pushfarm push --config deploy/simulated.yaml --app demo --alert Hello --wait \
                    --token 00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0
                """,
            ], in: folder.path, prefix: network.prefix("here"))
        #expect(try await push.wait() == .exited(0), "\(push.output) \(push.error) \(processes[0].error)")
        #expect(processes.allSatisfy { !$0.hasEnded })
        // foreman ends all processes with SIGTERM.
        for process in processes { process.signal(SIGTERM) }
        #expect(try await processes[0].wait() == .exited(0), "\(processes[0].error)")
    }
}
