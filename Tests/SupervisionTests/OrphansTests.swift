import EventLoop
import FarmHarness
import Foundation
import LoopTesting
import Supervision
import Testing

/// Processes that hold a coordinator's lock like its workers.
@Suite(.timeLimit(.minutes(1))) struct OrphansTests {
    /// A shell under the name of a worker that waits for input forever.
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
        // The script that the shell runs has the name of the role.
        for role in ["worker", "intake", "simulator"] { try folder.write("read -r word\n", to: role) }
        try await onLoop { () async throws -> Void in
            var orphans: [Orphan] = []
            for role in ["worker", "intake"] {
                orphans.append(try Orphan(program, ["pushfarm", role], in: home, lock: lock))
            }
            let workers = orphans.map(\.process.pid)
            // These processes have another lock, another role or another name.
            for (words, lock) in [
                (["pushfarm", "worker"], home + "/lock.own"), (["pushfarm", "simulator"], lock),
                (["sh", "worker"], lock),
            ] { orphans.append(try Orphan(program, words, in: home, lock: lock)) }
            #expect(await until { Self.found(lock) == workers.sorted() })
            // The workers of this process are not orphans.
            #expect(Orphans.of(lock: lock, except: getpid()) == [])
            // Another program is installed in place of the workers' program.
            try FileManager.default.removeItem(atPath: program)
            let link = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(workers[0])/exe")
            #expect(link.hasSuffix(" (deleted)"))
            #expect(Self.found(lock) == workers.sorted())
            // A coordinator that did not wait for the orphans has created the lock file again.
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
