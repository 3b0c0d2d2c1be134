import EventLoop

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

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
