import Foundation

/// The service manager's end of the systemd notify protocol: a datagram socket that receives a service's messages.
package final class NotifySocket {
    package enum Failure: Error {
        case cannotBind(code: Int32)
    }

    /// The value of the environment variable NOTIFY_SOCKET.
    package let name: String
    private let descriptor: Int32
    /// The lines of each datagram received so far.
    package private(set) var heard: [[String]] = []

    /// - Parameter name: a path, or `@` followed by an abstract name.
    package init(_ name: String) throws {
        self.name = name
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = name.hasPrefix("@") ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sa_family_t>.size + bytes.count + (name.hasPrefix("@") ? 0 : 1)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(length))
            }
        }
        guard result == 0 else { throw Failure.cannotBind(code: errno) }
    }

    deinit {
        close(descriptor)
        if !name.hasPrefix("@") { unlink(name) }
    }

    /// Reads the datagrams that have arrived. Never blocks.
    package func listen() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count >= 0 else { return }
            let text = String(decoding: buffer[..<count], as: UTF8.self)
            heard.append(text.split(separator: "\n").map(String.init))
        }
    }

    /// Waits for a line with this prefix in datagram number `start` or in a later datagram. Returns the line and the number of
    /// its datagram.
    package func line(
        _ prefix: String, from start: Int = 0, within limit: Duration = .seconds(60)
    ) async throws -> (text: String, number: Int) {
        do {
            return try await eventually("the service says \(prefix)", within: limit) {
                listen()
                for (number, lines) in heard.enumerated().dropFirst(start) {
                    if let line = lines.first(where: { $0.hasPrefix(prefix) }) { return (line, number) }
                }
                return nil
            }
        } catch let error as Overdue {
            throw Overdue(description: "\(error.description); it said \(heard.suffix(20))")
        }
    }
}
