#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How busy this thread is. Reading it is a system call: read it now and then, not for each push.
@Loop package struct ThreadTime {
    /// Nanoseconds in which the thread ran, or waited for a processor.
    private var wanted: UInt64
    private var at: ContinuousClock.Instant
    /// The share of the time between the last two readings in which it ran or waited for a processor, 0...1.
    package private(set) var share = 0.0

    package init() { (wanted, at) = (Self.read(), .now) }

    /// Reads again, unless the last reading is less than 100 ms old.
    package mutating func refresh(at now: ContinuousClock.Instant) {
        let span = now - at
        guard span >= .milliseconds(100) else { return }
        let time = Self.read()
        let used = Duration.nanoseconds(Int64(clamping: time &- wanted))
        share = min(1, max(0, used / span))
        (wanted, at) = (time, now)
    }

    private static func read() -> UInt64 {
        if let time = SchedulerTime.read("/proc/thread-self/schedstat") { return time.ran + time.waited }
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
