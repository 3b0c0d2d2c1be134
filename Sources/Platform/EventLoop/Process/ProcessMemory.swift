import CLibuv
import POSIX

/// The memory of this process.
package enum ProcessMemory {
    /// Keeps this process's memory out of core dumps, also of dumps that the kernel pipes to a program. Hides the memory from
    /// other processes of the same user: only root may then read the memory or attach a debugger. Works on Linux only.
    package static func hide() {
        #if os(Linux)
            _ = linux_set_dumpable(0)
        #endif
    }

    /// The size of the resident set in bytes; 0 without /proc.
    package static var residentBytes: UInt64 {
        let words = SmallFile.text("/proc/self/statm")?.split(separator: " ")
        guard let words, words.count > 1, let pages = UInt64(foreign: words[1]) else { return 0 }
        return pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Bytes that this process may use: the machine's memory, or the control group's lower limit; 0 if both are unknown.
    package static var limitBytes: UInt64 {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        let machine = pages > 0 ? UInt64(pages) * UInt64(sysconf(Int32(_SC_PAGESIZE))) : 0
        // Inside a container, the container's control group appears as the root of /sys/fs/cgroup.
        let digits = SmallFile.text("/sys/fs/cgroup/memory.max")?.prefix { $0.isNumber }
        guard let digits, let limit = UInt64(foreign: digits) else { return machine }
        return machine == 0 ? limit : min(machine, limit)
    }

    /// Removes the pages of program code from this process's resident memory. When code of a removed page runs again, the kernel
    /// maps the page again from the page cache.
    ///
    /// Without this call, much idle code stays resident: the start of the process uses far more code than sending does, and each
    /// page fault maps sixteen pages. The function removes only pages of executable mappings of files. Nothing writes to these
    /// pages, so the kernel can read them from their files again.
    package static func releaseIdleCode() {
        #if os(Linux)
            for line in SmallFile.text("/proc/self/maps")?.split(separator: "\n") ?? [] {
                let words = line.split(separator: " ")
                guard words.count == 6, words[1] == "r-xp", words[5].hasPrefix("/") else { continue }
                let ends = words[0].split(separator: "-").compactMap { UInt(unbounded: $0, radix: 16) }
                guard ends.count == 2, let start = UnsafeMutableRawPointer(bitPattern: ends[0]) else {
                    continue
                }
                madvise(start, Int(ends[1] - ends[0]), MADV_DONTNEED)
            }
        #endif
    }
}
