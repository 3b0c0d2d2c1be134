package import EventLoop
import Glibc

/// The socket of the service manager. Datagrams are sent without waiting, and get no replies.
@Loop package final class ServiceSocket {
    private let descriptor: Int32
    private let address: SocketAddress
    /// Announced datagrams that could not be sent yet, oldest first.
    private var unsent: [[UInt8]] = []

    /// The maximum number of unsent datagrams. If there are more, the oldest is dropped. This is rare, because a service makes
    /// only a few changes of its state while the manager does not read.
    private static let mostUnsent = 16

    /// - Returns: nil if the name cannot be the name of a socket.
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

    /// Sends a datagram about the service's current state. If the datagram cannot be sent now, or announced datagrams are unsent,
    /// it is dropped.
    package func send(_ messages: ServiceMessage...) {
        flush()
        if unsent.isEmpty { _ = send(ServiceMessage.datagram(messages)) }
    }

    /// Sends a datagram about a change of the service's state. If the datagram cannot be sent now, the next calls of this object
    /// send it first.
    package func announce(_ messages: ServiceMessage...) {
        unsent.append(ServiceMessage.datagram(messages))
        if unsent.count > Self.mostUnsent { unsent.removeFirst() }
        flush()
    }

    /// The present time of the monotonic clock in microseconds. ``ServiceMessage/reloading(monotonicMicroseconds:)`` needs a time
    /// of this clock.
    package static var monotonicMicroseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }

    private func flush() {
        while let first = unsent.first, send(first) { unsent.removeFirst() }
    }

    /// - Returns: whether the datagram was sent or can never be sent.
    private func send(_ bytes: [UInt8]) -> Bool {
        let status = address.send(bytes, from: descriptor)
        // The service manager may be restarting: its socket is missing, or refuses datagrams.
        return status >= 0 || ![EAGAIN, ENOBUFS, EINTR, ECONNREFUSED, ENOENT].contains(errno)
    }
}

/// What a service manager expects from a service, according to the environment variables that it sets for the
/// service.
package struct ServiceEnvironment: Equatable, Sendable {
    /// The socket's path, or `@` and an abstract name.
    package var socket: String
    /// The maximum time between two signs of life; nil if the manager expects no signs of life.
    package var watchdog: Duration?

    /// Reads the variables of the service manager; nil if no manager expects reports.
    ///
    /// - Parameters:
    ///   - variables: the environment, with NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
    ///   - pid: the id of this process. A watchdog for another process is ignored.
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

    /// The time between two signs of life: half of the watchdog time. The time is at most 1 s, because the status line is also
    /// sent at this interval and must be fresh.
    package var interval: Duration {
        max(.milliseconds(10), min(.seconds(1), (watchdog ?? .seconds(2)) / 2))
    }
}

/// A message from a service to its service manager. A datagram consists of lines `NAME=value`.
///
/// - Source: systemd, sd_notify(3); any manager that sets NOTIFY_SOCKET understands it.
package enum ServiceMessage: Equatable, Sendable {
    /// The service has started or reloaded.
    case ready
    /// One line of text for people, of at most ``longestStatus`` bytes.
    case status(String)
    /// The service is alive. The service must send this message at least once every WATCHDOG_USEC microseconds.
    case watchdog
    /// The service begins to reload, at this time of the machine's monotonic clock.
    case reloading(monotonicMicroseconds: UInt64)
    /// The service begins to stop.
    case stopping
    /// The start or the stop takes longer than expected: counted from this message, the manager waits at least this time before
    /// it gives up.
    case extendTimeout(Duration)
    /// The process with this id is the main process of the service from now on. The previous main process sends
    /// this message in an upgrade.
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

    /// Joins several messages in one datagram, which the manager handles as one step.
    package static func datagram(_ messages: [ServiceMessage]) -> [UInt8] {
        Array(messages.map(\.text).joined(separator: "\n").utf8)
    }

    /// Makes the text one line of UTF-8. In a datagram, a line break would begin another `NAME=value` line, and the manager
    /// refuses bytes that are not UTF-8.
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
