import ControlChannel
import EventLoop
import FarmPolicy

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

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
