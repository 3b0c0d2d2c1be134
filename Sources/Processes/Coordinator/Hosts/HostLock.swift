import EventLoop
import Glibc

/// Ensures that no other coordinator of this state folder, and none of its workers, is alive.
///
/// There are two locks. Only the coordinator holds the first lock. When the coordinator exits, the first lock is
/// released. The second lock is held by the coordinator and by its workers, which inherit the descriptor. After a
/// coordinator was killed, its workers hold the second lock until they exit. The lock file contains the holder's nonce,
/// with which the next coordinator takes over the leases at once.
///
/// If workers do not exit because a user has suspended them, the next coordinator starts nevertheless. In this case,
/// the next coordinator replaces the lock file, and the old leases expire like the leases of a failed host.
@Loop final class HostLock {
    let descriptor: Int32
    /// The nonce of the lock's previous holder; empty if there was no holder, or if the holder's workers may be
    /// alive.
    let predecessor: String
    /// Whether workers of the previous coordinator may still run.
    let hasOrphans: Bool
    let own: Int32

    enum Failure: Error, CustomStringConvertible {
        case cannotOpen(path: String, reason: String)
        case cannotReplace(path: String, reason: String)

        var description: String {
            switch self {
            case .cannotOpen(let path, let reason): "cannot open \(path): \(reason)"
            case .cannotReplace(let path, let reason):
                "workers of the previous coordinator do not exit, and their lock \(path) cannot be replaced: \(reason)"
            }
        }
    }

    /// Takes both locks. Waits while another coordinator stops, and while the workers of an exited coordinator exit,
    /// which takes seconds.
    init(path: String, nonce: String, timeout: Duration, onWait: @Loop () -> Void) async throws {
        let own = try Self.opened(path + ".own")
        self.own = own
        var isOurs = false
        defer { if !isOurs { close(own) } }
        guard try await Self.lock(own, within: timeout) else {
            throw CoordinatorError.stateFolderTaken(lock: path, seconds: Int(timeout.components.seconds))
        }
        var opened = try Self.opened(path)
        hasOrphans = try await !Self.lock(opened, within: timeout, onWait)
        if hasOrphans {
            close(opened)
            // Remove the old file. If the file stayed, its nonce would count as the nonce of a coordinator whose
            // workers have exited.
            guard unlink(path) == 0 || errno == ENOENT else {
                throw Failure.cannotReplace(path: path, reason: String(cString: strerror(errno)))
            }
            opened = try Self.opened(path)
            _ = try await Self.lock(opened, within: .zero)
        }
        descriptor = opened
        predecessor = Self.read(opened)
        Self.write(nonce, to: opened)
        isOurs = true
    }

    /// Adopts both locks from the predecessor. The locks stay held when the predecessor exits.
    init(inherited descriptor: Int32, own: Int32) {
        (self.descriptor, self.own) = (descriptor, own)
        (predecessor, hasOrphans) = ("", false)
        for each in [descriptor, own] { _ = fcntl(each, F_SETFD, FD_CLOEXEC) }
    }

    /// Stores the nonce of this process in the lock file. If this process dies, the next coordinator takes over the
    /// leases that have this nonce.
    func store(_ nonce: String) { Self.write(nonce, to: descriptor) }

    private static func opened(_ path: String) throws(Failure) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let reason = errno == ELOOP ? "it is a link" : String(cString: strerror(errno))
            throw .cannotOpen(path: path, reason: reason)
        }
        return descriptor
    }

    private static func lock(
        _ descriptor: Int32, within timeout: Duration, _ onWait: @Loop () -> Void = {}
    ) async throws -> Bool {
        let deadline = ContinuousClock.now + timeout
        var hasWaited = false
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard ContinuousClock.now < deadline else { return false }
            if !hasWaited { onWait() }
            hasWaited = true
            // The lock is polled, because waiting for it would block the loop.
            try await Loop.sleep(for: .milliseconds(50))
        }
        return true
    }

    private static func read(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)).prefix { $0 > 0x20 }, as: UTF8.self)
    }

    private static func write(_ nonce: String, to descriptor: Int32) {
        let line = Array((nonce + "\n").utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, line, line.count, 0)
    }
}
