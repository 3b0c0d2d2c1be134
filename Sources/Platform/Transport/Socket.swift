import EventLoop
import POSIX

/// The socket calls of streams and listeners. Sockets are nonblocking and closed on exec.
enum Socket {
    static func open(_ family: Int32) throws(TransportError) -> Int32 {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            let descriptor = socket(family, kind, 0)
        #else
            let descriptor = socket(family, SOCK_STREAM, 0)
            setFlags(descriptor)
        #endif
        guard descriptor >= 0 else { throw .system(call: "socket", number: errno) }
        prepare(descriptor, family)
        return descriptor
    }

    static func close(_ descriptor: Int32) {
        _ = POSIX.close(descriptor)
    }

    /// Closes the socket for writing. Reading continues.
    static func endOutput(_ descriptor: Int32) {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// - Returns: the accepted descriptor; `nil` if no connection is waiting.
    static func accept(_ listening: Int32, _ family: Int32) throws(TransportError) -> Int32? {
        while true {
            let descriptor = POSIX.accept(listening, nil, nil)
            if descriptor >= 0 {
                setFlags(descriptor)
                prepare(descriptor, family)
                return descriptor
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return nil
            default: throw .system(call: "accept", number: errno)
            }
        }
    }

    /// The result of a nonblocking connect: 0 or an `errno` value.
    static func pendingError(_ descriptor: Int32) -> Int32 {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno
    }

    /// Whether the socket can accept bytes now. poll(2) reports room only when the room is larger than a TLS record.
    static func hasRoom(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLOUT) != 0
    }

    /// The number of bytes in the socket's send queue: bytes that are unsent, or that the peer has not acknowledged.
    static func unacknowledged(_ descriptor: Int32) -> Int {
        var count: Int32 = 0
        #if canImport(Glibc)
            // TIOCOUTQ is another name of SIOCOUTQ.
            guard ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 else { return 0 }
        #else
            var length = socklen_t(MemoryLayout<Int32>.size)
            guard getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &length) == 0 else { return 0 }
        #endif
        return Int(count)
    }

    static func resetOnClose(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    static func limitReceiveBuffer(_ descriptor: Int32, _ bytes: Int) {
        var size = Int32(clamping: bytes)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sets the permissions of a Unix socket's future file. Call this function before the socket is bound, because Linux then
    /// gives the socket's mode to the new file.
    static func limitMode(_ descriptor: Int32, _ mode: UInt32) { _ = fchmod(descriptor, mode_t(mode)) }

    static func setFlags(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private static func prepare(_ descriptor: Int32, _ family: Int32) {
        guard family != AF_UNIX else { return }
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, size)
    }
}
