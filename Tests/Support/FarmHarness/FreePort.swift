import Foundation

/// Finds a free TCP port for programs that need a port number. The port is free on a random loopback address. So no
/// connection from 127.0.0.1 can take the port before the program listens.
package enum FreePort {
    package struct None: Error {}

    /// - Returns: an address with a port, such as `127.9.8.7:40000`.
    /// - Throws: if the system has no free port.
    package static func take() throws -> String {
        let host = "127.\(Int.random(in: 1...254)).\(Int.random(in: 1...254)).\(Int.random(in: 1...254))"
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw None() }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(host)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw None() }
        return "\(host):\(UInt16(bigEndian: address.sin_port))"
    }
}
