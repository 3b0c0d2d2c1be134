import EventLoop
import Foundation

/// What a long-running process asks of the kernel for itself.
enum ProcessLimits {
    /// As many descriptors as it may have; no core dump, which would hold keys and tokens, and no look into its memory.
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
