import POSIX

/// The address of a socket: IPv4, IPv6 or a path.
package struct SocketAddress: Sendable, CustomStringConvertible {
    private var storage = sockaddr_storage()
    private var length: socklen_t

    init(copying address: UnsafePointer<sockaddr>, length: socklen_t) {
        self.length = length
        withUnsafeMutableBytes(of: &storage) { storage in
            storage.copyMemory(
                from: UnsafeRawBufferPointer(start: address, count: min(Int(length), storage.count)))
        }
    }

    /// - Returns: `nil` when the path does not fit in a `sockaddr_un`.
    package init?(path: String) {
        self.init(unix: Array(path.utf8) + [0], length: MemoryLayout<sockaddr_un>.size)
    }

    /// A Unix socket with an abstract name, which has no file. Only Linux supports abstract names. A zero byte does not end the
    /// name: names that differ only after a zero byte are different.
    ///
    /// - Returns: `nil` when the name does not fit.
    package init?(abstract name: some StringProtocol) {
        #if canImport(Glibc)
            let bytes = [0] + Array(name.utf8)
            self.init(unix: bytes, length: MemoryLayout<sa_family_t>.size + bytes.count)
        #else
            return nil
        #endif
    }

    private init?(unix bytes: [UInt8], length: Int) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        self = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                SocketAddress(copying: $0, length: socklen_t(length))
            }
        }
    }

    package var family: Int32 { Int32(storage.ss_family) }

    /// Calls `connect(2)`. Returns 0, or -1 with `errno`.
    package func connect(_ descriptor: Int32) -> Int32 {
        withSockaddr { POSIX.connect(descriptor, $0, $1) }
    }

    /// Calls `sendto(2)` without blocking. Returns the number of bytes sent, or -1 with `errno`.
    package func send(_ bytes: [UInt8], from descriptor: Int32) -> Int {
        withSockaddr { sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT), $0, $1) }
    }

    /// Calls `bind(2)`. Returns 0, or -1 with `errno`.
    package func bind(_ descriptor: Int32) -> Int32 {
        withSockaddr { POSIX.bind(descriptor, $0, $1) }
    }

    /// The address that a socket is bound to.
    package init?(boundTo descriptor: Int32) {
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard status == 0 else { return nil }
    }

    /// The address that a socket is connected to. Nil if the peer has no address, such as the client of a Unix socket.
    package init?(peerOf descriptor: Int32) {
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        guard status == 0, family != AF_UNIX || length > MemoryLayout<sa_family_t>.size else { return nil }
    }

    func withSockaddr<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// `192.0.2.1:443`, `[2001:db8::1]:443` or the path.
    package var description: String {
        if family == AF_UNIX {
            return withUnsafePointer(to: storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr_un.self, capacity: 1) { address in
                    withUnsafeBytes(of: address.pointee.sun_path) { path in
                        String(decoding: path.prefix { $0 != 0 }, as: UTF8.self)
                    }
                }
            }
        }
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = withSockaddr { address, length in
            getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
        }
        guard status == 0 else { return "?" }
        let name = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return family == AF_INET6 ? "[\(name)]:\(port)" : "\(name):\(port)"
    }

    /// The TCP port, 0 for a path.
    package var port: UInt16 {
        withUnsafePointer(to: storage) { pointer in
            switch family {
            case AF_INET:
                pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
            case AF_INET6:
                pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin6_port)
                }
            default: 0
            }
        }
    }
}
