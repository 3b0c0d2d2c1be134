import EventLoop
import Foundation

/// The kernel settings of a long-running process.
enum ProcessLimits {
    /// Raises the descriptor limit to its maximum. Prevents core dumps and memory reads by other processes, because memory
    /// holds keys and tokens.
    static func apply() {
        var limit = rlimit()
        #if canImport(Glibc)
            let (files, core) = (
                __rlimit_resource_t(RLIMIT_NOFILE.rawValue), __rlimit_resource_t(RLIMIT_CORE.rawValue)
            )
        #else
            let (files, core) = (RLIMIT_NOFILE, RLIMIT_CORE)
        #endif
        if getrlimit(files, &limit) == 0, limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            setrlimit(files, &limit)
        }
        limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(core, &limit)
        ProcessMemory.hide()
    }
}
