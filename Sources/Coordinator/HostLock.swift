import EventLoop
import FarmStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Proves that no other coordinator of this state folder, and none of its workers, is alive.
///
/// The lock is held by every process that inherited the descriptor, so a coordinator that was killed still holds
/// it through its workers until they have finished. The file holds the holder's nonce: its successor shows it to
/// take over the leases at once.
@Loop final class HostLock {
    let descriptor: Int32
    /// The nonce of the coordinator that held the lock before; "" if there was none.
    let predecessor: String

    enum Failure: Error, CustomStringConvertible {
        case cannotOpen(path: String, reason: String)
        case held(path: String, seconds: Int)

        var description: String {
            switch self {
            case .cannotOpen(let path, let reason): "cannot open \(path): \(reason)"
            case .held(let path, let seconds):
                "another coordinator of this state folder is running (it holds \(path) for more than \(seconds) s)"
            }
        }
    }

    /// Waits for workers of a coordinator that is gone; they end within seconds.
    init(path: String, nonce: String, patience: Duration, onWait: @Loop () -> Void) async throws {
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else {
            throw Failure.cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        let deadline = ContinuousClock.now + patience
        var hasWaited = false
        while flock(opened, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < deadline else {
                close(opened)
                throw Failure.held(path: path, seconds: Int(patience.components.seconds))
            }
            if !hasWaited { onWait() }
            hasWaited = true
            // A lock has no event to wait for without blocking the loop.
            try await Loop.sleep(for: .milliseconds(50))
        }
        descriptor = opened
        predecessor = Self.read(opened)
        Self.write(nonce, to: opened)
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
