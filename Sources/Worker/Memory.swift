#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What this process takes of the machine's memory.
enum Memory {
    /// The resident set now, as the kernel counts it; 0 where there is no /proc.
    static var residentBytes: UInt64 {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return 0 }
        let words = line.prefix { $0 != 0 }.split(separator: CChar(UInt8(ascii: " ")))
        guard words.count > 1 else { return 0 }
        let pages = words[1].reduce(UInt64(0)) { $0 * 10 + UInt64(UInt8(bitPattern: $1) - 48) }
        return pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
