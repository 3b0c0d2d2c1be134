import ControlChannel
import EventLoop
import FarmPolicy
import Glibc

extension ChildProcess.End {
    /// Nil when no signal has ended it, or one without a name here.
    var signalName: String? {
        if case .killed(let signal) = self { Self.names[signal] } else { nil }
    }

    private static let names: [Int32: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV",
        SIGSYS: "SIGSYS", SIGPIPE: "SIGPIPE", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ",
    ]

    /// What the end says about what the process was doing.
    var cause: EndCause {
        switch self {
        case .exited(0), .exited(ChildStatus.fenced): .orderly
        case .exited: .crash
        case .killed(SIGKILL): .kill
        case .killed(let signal):
            [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS].contains(signal) ? .crash : .orderly
        }
    }
}

extension ChildProcess {
    /// A user has stopped it, by a signal or with a debugger; false where there is no /proc.
    var isStopped: Bool {
        guard end == nil, let file = fopen("/proc/\(pid)/stat", "re") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return false }
        // "PID (NAME) STATE …": the name may hold anything, a parenthesis too.
        let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")), end + 2 < bytes.count else { return false }
        return bytes[end + 2] == UInt8(ascii: "T") || bytes[end + 2] == UInt8(ascii: "t")
    }
}
