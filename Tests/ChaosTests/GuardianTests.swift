import FarmHarness
import Foundation
import Testing

/// When the process that started farms is killed with its process group, no part of the farms remains.
@Suite(.timeLimit(.minutes(5))) struct GuardianTests {
    @Test func `a chaos run that is killed with its group leaves no process and no folder`()
        async throws
    {
        let folder = try TestFolder()
        let program = URL(fileURLWithPath: BuiltProgram.path).deletingLastPathComponent()
        let chaos = try Child(
            "run", program.appendingPathComponent("chaos-run").path,
            ["minutes=3", "seed=1", "only=1", "keep=\(folder.path)/kept"],
            environment: ["TMPDIR": folder.path + "/"], in: folder.path)
        let place = folder.path + "/pf."
        try await eventually("its farm has workers") {
            chaos.hasEnded || !workers(of: ProcessTable.naming(folder: place)).isEmpty
        }
        let others = ProcessTable.naming(folder: place)
        let groups = Set(others.map { getpgid($0) }).subtracting([chaos.pid])
        #expect(groups.count >= 3, "Redis, the gateway and a host: \(groups)")
        #expect(kill(-chaos.pid, SIGKILL) == 0)
        #expect(try await chaos.wait() == .killed(SIGKILL))
        try await eventually("nothing of it is left") {
            try groups.allSatisfy { ProcessTable.members(ofGroup: $0).isEmpty }
                && ProcessTable.naming(folder: place).allSatisfy { $0 == chaos.pid }
                && FileManager.default.contentsOfDirectory(atPath: folder.path)
                    .allSatisfy { !$0.hasPrefix("pf.") }
        }
    }

    @Test func `the guardian finds a process in its own session by its folder`() async throws {
        let guardian = Guardian()
        let home = try TestFolder()
        let folder = home.path + "/farm"
        let up = try Child(
            "up", BuiltProgram.path, ["up", "--simulate", "--json", "--state-dir", folder],
            in: home.path)
        try await eventually("up has started") { up.hasEnded || up.output.contains("\"running\"") }
        let sessions = Set(ProcessTable.naming(folder: folder).map { getsid($0) })
        #expect(sessions.count >= 4, "up, Redis, the gateway, the coordinator: \(sessions)")
        let workers = workers(of: ProcessTable.naming(folder: folder))
        #expect(!workers.isEmpty)
        guardian.watch(folder: folder)
        guardian.dismiss()
        try await eventually("nothing of it is left") {
            ProcessTable.naming(folder: folder).isEmpty && workers.allSatisfy { kill($0, 0) != 0 }
                && !FileManager.default.fileExists(atPath: folder)
        }
        #expect(try await up.wait() == .killed(SIGKILL))
    }

    /// The child processes of the coordinators among these processes. The command lines of these child processes name no folder,
    /// so this function finds them by their process groups.
    private func workers(of pids: [pid_t]) -> [pid_t] {
        Set(pids.map { getpgid($0) }).flatMap { ProcessTable.members(ofGroup: $0) }.filter { pid in
            ProcessTable.visibleText(of: pid).split(separator: "\0", maxSplits: 2).dropFirst().first
                == "worker"
        }
    }
}
