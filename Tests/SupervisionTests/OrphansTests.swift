import EventLoop
import FarmHarness
import Foundation
import LoopTesting
import Supervision
import Testing

/// Checks how a coordinator finds processes that hold its lock, such as workers of an exited coordinator.
@Suite(.timeLimit(.minutes(1))) struct OrphansTests {
    /// A shell that has the name of a worker and waits for input forever.
    @Loop private final class Orphan {
        let process: ChildProcess
        private let ours: Int32

        init(_ program: String, _ words: [String], in folder: String, lock: String) throws {
            let (ours, theirs) = try SocketPair.make()
            let held = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            defer {
                close(theirs)
                close(held)
            }
            self.ours = ours
            process = try ChildProcess(
                program, arguments: words, environment: [], directory: folder,
                descriptors: [theirs, nil, nil, nil, held]
            ) { _ in }
        }

        func end() async {
            process.signal(SIGKILL)
            _ = await until { self.process.end != nil }
            close(ours)
        }
    }

    private static func found(_ lock: String) -> [Int32] { Orphans.of(lock: lock, except: 0) }

    @Test func `workers are found after their program or their lock file was replaced`() async throws {
        let folder = try TestFolder()
        let home = folder.path
        let (lock, program) = (home + "/lock", home + "/pushfarm")
        try await folder.install("/bin/sh", as: "pushfarm")
        // The shell runs a script whose name is the role. So the shell's command line looks like the command line of a child of
        // the farm.
        for role in ["worker", "intake", "simulator"] { try folder.write("read -r word\n", to: role) }
        try await onLoop { () async throws -> Void in
            var orphans: [Orphan] = []
            for role in ["worker", "intake"] {
                orphans.append(try Orphan(program, ["pushfarm", role], in: home, lock: lock))
            }
            let workers = orphans.map(\.process.pid)
            // These processes are not orphans of this coordinator: they have a different lock, a role without a lock, or a
            // different program name.
            for (words, lock) in [
                (["pushfarm", "worker"], home + "/lock.own"), (["pushfarm", "simulator"], lock),
                (["sh", "worker"], lock),
            ] { orphans.append(try Orphan(program, words, in: home, lock: lock)) }
            #expect(await until { Self.found(lock) == workers.sorted() })
            // The coordinator's own children are not orphans.
            #expect(Orphans.of(lock: lock, except: getpid()) == [])
            // An upgrade of the package replaces the file of the workers' program.
            try FileManager.default.removeItem(atPath: program)
            let link = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(workers[0])/exe")
            #expect(link.hasSuffix(" (deleted)"))
            #expect(Self.found(lock) == workers.sorted())
            // The lock file is deleted and created again, as by a coordinator that did not wait for the orphans.
            try FileManager.default.removeItem(atPath: lock)
            #expect(Self.found(lock) == [])
            try "nonce\n".write(toFile: lock, atomically: false, encoding: .utf8)
            #expect(Self.found(lock) == workers.sorted())
            Orphans.end(workers[0])
            #expect(await until { Self.found(lock) == [workers[1]] })
            for orphan in orphans { await orphan.end() }
        }
        withExtendedLifetime(folder) {}
    }
}
