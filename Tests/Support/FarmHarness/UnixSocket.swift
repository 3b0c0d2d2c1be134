import Foundation

/// A blocking connection to a Unix socket, with a timeout of 30 s for each reply.
package final class UnixSocket {
    package enum Failure: Error {
        case notConnected(path: String)
        case lost
    }

    private let descriptor: Int32

    package init(_ path: String) throws(Failure) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            room.copyBytes(from: path.utf8.prefix(room.count - 1))
        }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw .notConnected(path: path) }
        var timeout = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Connects, with retries until a server listens, because the system has no event for the start of a listener.
    package static func open(_ path: String, within limit: Duration = .seconds(20)) throws(Failure)
        -> UnixSocket
    {
        let deadline = ContinuousClock.now + limit
        while true {
            do { return try UnixSocket(path) } catch {
                guard ContinuousClock.now < deadline else { throw error }
            }
            usleep(2000)
        }
    }

    deinit { close(descriptor) }

    package func send(_ bytes: [UInt8]) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .lost }
            sent += count
        }
    }

    package func receive() throws(Failure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var count: Int
        // A signal that stops and continues the process interrupts `read` with EINTR.
        repeat { count = read(descriptor, &buffer, buffer.count) } while count < 0 && errno == EINTR
        guard count > 0 else { throw .lost }
        return Array(buffer[..<count])
    }

    /// Whether input arrives within this time.
    package func hasInput(within milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Foundation.poll(&poll, 1, milliseconds) == 1
    }
}
