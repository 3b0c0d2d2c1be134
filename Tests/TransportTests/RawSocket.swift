import Foundation

/// A blocking TCP socket, for actions that a correct stream never does.
final class RawSocket {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    struct Failure: Error { let number: Int32 }

    /// Connects to this machine. With port 0, the socket takes a free port instead and, if `listens` is true, listens
    /// on this port without accepting connections.
    init(port: UInt16, listens: Bool = true) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                port == 0 ? bind(descriptor, address, size) : connect(descriptor, address, size)
            }
        }
        guard status == 0, port != 0 || !listens || listen(descriptor, 0) == 0 else {
            throw Failure(number: errno)
        }
    }

    deinit { close(descriptor) }

    /// The port on which the socket listens.
    var port: UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    func write(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }
}
