package import EventLoop
import Glibc

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
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw LoopError(code: -errno) }
        self.address = address
    }

    isolated deinit { close(descriptor) }

    /// Sends a current state: when there is no room for it, it is dropped.
    package func send(_ messages: ServiceMessage...) {
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

/// What a service manager wants to hear, by the variables that it starts a service with.
package struct ServiceEnvironment: Equatable, Sendable {
    /// A path, or behind `@` a name without one.
    package var socket: String
    /// How often it must hear that the service is alive; nil: not at all.
    package var watchdog: Duration?

    /// Nil when no manager listens.
    ///
    /// - Parameters:
    ///   - variables: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID are looked at.
    ///   - pid: of this process. A watchdog that waits for another process is not ours to answer.
    package init?(_ variables: [String: String], pid: Int32) {
        guard let socket = variables["NOTIFY_SOCKET"], socket.utf8.count > 1,
            socket.hasPrefix("/") || socket.hasPrefix("@")
        else { return nil }
        self.socket = socket
        guard variables["WATCHDOG_PID"].map({ Int32(foreign: $0) == pid }) ?? true,
            let microseconds = variables["WATCHDOG_USEC"].flatMap({ Int64(foreign: $0) }), microseconds > 0
        else { return }
        watchdog = .microseconds(microseconds)
    }

    /// Between two signs of life: half of what the manager waits for, and a second at most, for its status line is as old.
    package var interval: Duration {
        max(.milliseconds(10), min(.seconds(1), (watchdog ?? .seconds(2)) / 2))
    }
}

/// What a service says to the service manager that started it: one datagram of `NAME=value` lines.
///
/// - Source: systemd, sd_notify(3); any manager that sets NOTIFY_SOCKET understands it.
package enum ServiceMessage: Equatable, Sendable {
    /// Started, or reloaded.
    case ready
    /// One line for people; not a word more than ``longestStatus`` bytes.
    case status(String)
    /// Alive; to be said at least every WATCHDOG_USEC.
    case watchdog
    /// Begins to reload; the time is the machine's monotonic clock's.
    case reloading(monotonicMicroseconds: UInt64)
    /// Begins to end.
    case stopping
    /// Start or end take longer: the manager waits at least so much longer from now on.
    case extendTimeout(Duration)
    /// From now on that process is the service: it was started by the one that says so, and takes its place.
    case mainProcess(Int32)

    package static let longestStatus = 512

    package var text: String {
        switch self {
        case .ready: "READY=1"
        case .status(let line): "STATUS=" + Self.oneLine(line)
        case .watchdog: "WATCHDOG=1"
        case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time)"
        case .stopping: "STOPPING=1"
        case .extendTimeout(let duration): "EXTEND_TIMEOUT_USEC=\(Self.microseconds(duration))"
        case .mainProcess(let pid): "MAINPID=\(pid)"
        }
    }

    /// Several of them in one datagram: the manager takes them as one step.
    package static func datagram(_ messages: [ServiceMessage]) -> [UInt8] {
        Array(messages.map(\.text).joined(separator: "\n").utf8)
    }

    /// A line break would begin another assignment, and the manager drops a message that is not UTF-8.
    private static func oneLine(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            let shown = scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar
            guard line.utf8.count + UTF8.width(shown) <= longestStatus else { break }
            line.unicodeScalars.append(shown)
        }
        return line
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
