#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What this process's main thread has had of the machine's processors.
package struct ProcessorTime: Sendable {
    /// In microseconds.
    package var taken: UInt64 = 0
    /// Microseconds in which it stood in line for one; 0 where the system does not say.
    package var queued: UInt64 = 0

    /// Until now.
    package static var now: ProcessorTime {
        #if os(Linux)
            if let file = fopen("/proc/self/schedstat", "r") {
                defer { fclose(file) }
                var line = [CChar](repeating: 0, count: 128)
                if fgets(&line, 128, file) != nil {
                    let text = String(
                        decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                    let words = text.split(whereSeparator: \.isWhitespace).compactMap {
                        UInt64(unbounded: $0)
                    }
                    if words.count == 3 {
                        return ProcessorTime(taken: words[0] / 1000, queued: words[1] / 1000)
                    }
                }
            }
        #endif
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(RUSAGE_SELF.rawValue, &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        return ProcessorTime(taken: microseconds(usage.ru_utime) + microseconds(usage.ru_stime))
    }

    private static func microseconds(_ time: timeval) -> UInt64 {
        UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_usec)
    }
}
