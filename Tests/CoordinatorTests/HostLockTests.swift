import EventLoop
import FarmHarness
import Foundation
import LoopTesting
import Testing

@testable import Coordinator

@Suite(.timeLimit(.minutes(1))) struct HostLockTests {
    /// Opens and locks the file as another process would do.
    private static func hold(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        return descriptor
    }

    private static let short = Duration.milliseconds(150)

    @Test func `the next process learns which process held the lock before`() async throws {
        try await onLoop {
            let folder = try TestFolder()
            defer { withExtendedLifetime(folder) {} }
            let path = folder.path + "/lock"
            let first = try await HostLock(path: path, nonce: "n1", timeout: Self.short) {}
            #expect(first.predecessor == "" && !first.hasOrphans)
            await #expect(throws: CoordinatorError.self) {
                try await HostLock(path: path, nonce: "n2", timeout: Self.short) {}
            }
            first.release()
            let next = try await HostLock(path: path, nonce: "n3", timeout: Self.short) {}
            #expect(next.predecessor == "n1" && !next.hasOrphans)
        }
    }

    @Test(arguments: ["lock", "lock.own"])
    func `a symbolic link in place of the lock is not followed`(name: String) async throws {
        try await onLoop {
            let folder = try TestFolder()
            defer { withExtendedLifetime(folder) {} }
            // The first target file has content. The second target file does not exist, and a lock that followed the link would
            // create it.
            for (victim, text) in [("precious", "precious"), ("absent", nil)] {
                let (link, target) = ("\(folder.path)/\(name)", "\(folder.path)/\(victim)")
                if let text { try folder.write(text, to: victim) }
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
                let error = await #expect(throws: HostLock.Failure.self) {
                    try await HostLock(path: folder.path + "/lock", nonce: "n", timeout: Self.short) {}
                }
                #expect("\(error as Any)".contains("cannot open \(link): it is a link"))
                #expect((try? String(contentsOfFile: target, encoding: .utf8)) == text)
                try FileManager.default.removeItem(atPath: link)
            }
        }
    }

    @Test func `workers that never end do not block the lock and are not known to have exited`() async throws
    {
        try await onLoop {
            let folder = try TestFolder()
            defer { withExtendedLifetime(folder) {} }
            let path = folder.path + "/lock"
            let first = try await HostLock(path: path, nonce: "n1", timeout: Self.short) {}
            // A worker inherits the descriptor of the lock.
            let orphan = dup(first.descriptor)
            first.release()
            var waits = 0
            let next = try await HostLock(path: path, nonce: "n2", timeout: Self.short) { waits += 1 }
            #expect(next.predecessor == "" && next.hasOrphans && waits == 1)
            close(orphan)
            // Now a worker of the second coordinator has inherited the descriptor and outlives its coordinator.
            let worker = dup(next.descriptor)
            next.release()
            let third = try await HostLock(path: path, nonce: "n3", timeout: Self.short) {}
            #expect(third.predecessor == "" && third.hasOrphans)
            close(worker)
            third.release()
            let last = try await HostLock(path: path, nonce: "n4", timeout: Self.short) {}
            #expect(last.predecessor == "n3" && !last.hasOrphans)
        }
    }
}

extension HostLock {
    /// Releases the lock as the end of the process would: by closing the descriptors.
    fileprivate func release() {
        close(own)
        close(descriptor)
    }
}
