import EventLoop
import FarmPolicy

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension ChildProcess.End {
    /// The exit status of a process that has lost what it needs to go on, and is to be started anew.
    private static let fenced: Int32 = 75

    /// What the end says about what the process was doing.
    var cause: EndCause {
        switch self {
        case .exited(0), .exited(Self.fenced): .orderly
        case .exited: .crash
        case .killed(SIGKILL): .kill
        case .killed(let signal):
            [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS].contains(signal) ? .crash : .orderly
        }
    }
}
