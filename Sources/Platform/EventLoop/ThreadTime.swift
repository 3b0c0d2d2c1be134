#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How busy this thread is: to be asked now and then, not for each push.
@Loop package struct ThreadTime {
    /// Nanoseconds that it ran, or waited to run while others did.
    private var wanted: UInt64
    private var at: ContinuousClock.Instant
    /// The part of the time between the last two readings in which it ran or would have, 0...1.
    package private(set) var share = 0.0

    package init() { (wanted, at) = (Self.read(), .now) }

    /// Reads again, unless that was done a moment ago.
    package mutating func refresh(at now: ContinuousClock.Instant) {
        let span = now - at
        guard span >= .milliseconds(100) else { return }
        let time = Self.read()
        let used = Duration.nanoseconds(Int64(clamping: time &- wanted))
        share = min(1, max(0, used / span))
        (wanted, at) = (time, now)
    }

    private static func read() -> UInt64 {
        #if canImport(Glibc)
            if let time = scheduled() { return time }
        #endif
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    #if canImport(Glibc)
        /// What Linux keeps of a thread: nanoseconds on a processor, and waiting for one.
        private static func scheduled() -> UInt64? {
            let file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            defer { close(file) }
            return withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { text in
                let count = Glibc.read(file, text.baseAddress, text.count)
                guard count > 0 else { return nil }
                let words = String(decoding: text[..<count], as: UTF8.self).split { $0 == " " || $0 == "\n" }
                guard words.count >= 2, let ran = UInt64(unbounded: words[0]),
                    let waited = UInt64(unbounded: words[1])
                else {
                    return nil
                }
                return ran + waited
            }
        }
    #endif
}
