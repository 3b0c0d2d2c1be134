import ControlChannel
import EventLoop
import FarmPolicy

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension ChildProcess.End {
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
