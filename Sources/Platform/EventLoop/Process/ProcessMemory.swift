import CLibuv
import POSIX

/// The memory of this process.
package enum ProcessMemory {
    /// Keeps it out of core dumps, also of those that the kernel pipes to a program, and hides it from other processes of the
    /// same user: only root may read it or attach a debugger. Does nothing on systems without such a setting.
    package static func hide() {
        #if os(Linux)
            _ = linux_set_dumpable(0)
        #endif
    }

    /// The size of the resident set; 0 without /proc.
    package static var residentBytes: UInt64 {
        let words = SmallFile.text("/proc/self/statm")?.split(separator: " ")
        guard let words, words.count > 1, let pages = UInt64(foreign: words[1]) else { return 0 }
        return pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// How much this service may use: the machine's memory, or less if its control group has a limit; 0 if neither is known.
    package static var limitBytes: UInt64 {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        let machine = pages > 0 ? UInt64(pages) * UInt64(sysconf(Int32(_SC_PAGESIZE))) : 0
        // A container sees its own group at the root.
        let digits = SmallFile.text("/sys/fs/cgroup/memory.max")?.prefix { $0.isNumber }
        guard let digits, let limit = UInt64(foreign: digits) else { return machine }
        return machine == 0 ? limit : min(machine, limit)
    }

    /// Unmaps the pages of code that this process has touched; code that runs again is mapped again from the page cache.
    ///
    /// The start touches far more code than sending does, and each touch maps sixteen pages. Only executable mappings of
    /// files are released: they are never written to, so that each page is a copy of its file.
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
