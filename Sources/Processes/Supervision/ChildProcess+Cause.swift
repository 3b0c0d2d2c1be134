import ControlChannel
import EventLoop
import FarmPolicy
import Glibc

extension ChildProcess.End {
    /// The name of the signal that ended the process; nil if no signal ended the process, or if `names` does not
    /// contain the signal.
    var signalName: String? {
        if case .killed(let signal) = self { Self.names[signal] } else { nil }
    }

    private static let names: [Int32: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV",
        SIGSYS: "SIGSYS", SIGPIPE: "SIGPIPE", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ",
    ]

    /// Classifies the end of the process: regular, crash or kill.
    var cause: EndCause {
        switch self {
        case .exited(0), .exited(ChildExitStatus.fenced): .regular
        case .exited: .crash
        case .killed(SIGKILL): .kill
        case .killed(let signal):
            [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS].contains(signal) ? .crash : .regular
        }
    }
}

extension ChildProcess {
    /// Whether a user has stopped the process, by a signal or with a debugger; false without /proc.
    var isStopped: Bool {
        guard end == nil, let file = fopen("/proc/\(pid)/stat", "re") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return false }
        // The line has the form "PID (NAME) STATE …", and the name may contain any character, even a parenthesis.
        let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")), end + 2 < bytes.count else { return false }
        return bytes[end + 2] == UInt8(ascii: "T") || bytes[end + 2] == UInt8(ascii: "t")
    }
}
