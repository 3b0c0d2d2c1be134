import APNs
import BinaryProtocol
import Foundation
import OpenSSL

/// A blocking connection to a binary gateway, as a script would use it.
final class HistoricWire {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    enum Observation: Hashable {
        case nothing
        case reply(BinaryReply)
        /// The gateway closed the connection without a reply.
        case closed
    }

    private let socket: Int32
    private let session: TLSSession
    private var reader = BinaryReply.Reader()
    /// The timeout of calls that normally return at once.
    private static let timeout: Int32 = 30_000

    init(port: UInt16, context: TLSContext) throws {
        let descriptor = Foundation.socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        guard status == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            close(descriptor)
            throw Failure(description: "cannot connect to port \(port): errno \(errno)")
        }
        socket = descriptor
        session = try TLSSession(client: context, socket: descriptor, serverName: "127.0.0.1")
        while true {
            switch try session.handshake() {
            case .done: return
            case .wantRead: try expect(POLLIN)
            case .wantWrite: try expect(POLLOUT)
            }
        }
    }

    deinit { close(socket) }

    /// - Returns: false if the gateway has closed the connection.
    func write(_ frame: [UInt8]) -> Bool {
        var rest = frame[...]
        while !rest.isEmpty {
            guard let transfer = try? rest.withUnsafeBytes({ try session.write($0) }) else { return false }
            switch transfer {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wantRead, .closed: return false
            case .wantWrite: guard (try? expect(POLLOUT)) != nil else { return false }
            }
        }
        return true
    }

    /// Waits for a reply until a timeout.
    func readReplies(within timeout: Duration) -> Observation {
        let deadline = ContinuousClock.now + timeout
        while true {
            var buffer = [UInt8](repeating: 0, count: 64)
            guard let transfer = try? buffer.withUnsafeMutableBytes({ try session.read(into: $0) }) else {
                return .closed
            }
            switch transfer {
            case .bytes(let count):
                let progress = buffer[..<count].withUnsafeBytes { reader.read($0) }
                if case .reply(let reply) = progress { return .reply(reply) }
            case .closed, .wantWrite: return .closed
            case .wantRead:
                let rest = Int32((deadline - .now) / .milliseconds(1))
                guard rest > 0, wait(POLLIN, rest) else { return .nothing }
            }
        }
    }

    private func expect(_ events: Int32) throws(Failure) {
        guard wait(events, Self.timeout) else { throw Failure(description: "the gateway does nothing") }
    }

    private func wait(_ events: Int32, _ milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: socket, events: Int16(events), revents: 0)
        return Foundation.poll(&poll, 1, milliseconds) == 1
    }
}
