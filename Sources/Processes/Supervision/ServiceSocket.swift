package import EventLoop

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The socket of the service manager: datagrams without replies, sent without waiting.
@Loop package final class ServiceSocket {
    private let descriptor: Int32
    private let address: SocketAddress
    /// What the manager must hear in any case, and had no room for yet; oldest first.
    private var unsent: [[UInt8]] = []

    /// More of them than a service can come to in the time in which a manager takes none.
    private static let mostUnsent = 16

    /// - Returns: nil for a name that no socket can have.
    package init?(_ name: String) throws(LoopError) {
        let address =
            name.hasPrefix("@") ? SocketAddress(abstract: name.dropFirst()) : SocketAddress(path: name)
        guard let address else { return nil }
        #if canImport(Glibc)
            let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_DGRAM
        #endif
        descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw LoopError(code: -errno) }
        self.address = address
    }

    isolated deinit { close(descriptor) }

    /// Sends a current state: when there is no room for it, it is dropped.
    package func tell(_ messages: ServiceMessage...) {
        flush()
        if unsent.isEmpty { _ = send(ServiceMessage.datagram(messages)) }
    }

    /// Says what changes the service's state: it is said again until it has got through.
    package func announce(_ messages: ServiceMessage...) {
        unsent.append(ServiceMessage.datagram(messages))
        if unsent.count > Self.mostUnsent { unsent.removeFirst() }
        flush()
    }

    /// Now, by the clock that the manager compares reloads with.
    package static var monotonicMicroseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }

    private func flush() {
        while let first = unsent.first, send(first) { unsent.removeFirst() }
    }

    /// - Returns: whether it was sent, or never can be.
    private func send(_ bytes: [UInt8]) -> Bool {
        let status = address.send(bytes, from: descriptor)
        // The service manager may be restarting: its socket is not there, or refuses.
        return status >= 0 || ![EAGAIN, ENOBUFS, EINTR, ECONNREFUSED, ENOENT].contains(errno)
    }
}
