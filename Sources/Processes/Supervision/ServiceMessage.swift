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
    /// Start or end take longer: the manager's patience lasts at least so much from now on.
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
