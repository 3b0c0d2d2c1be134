import POSIX

/// The processor time of this process's main thread.
package struct ProcessorTime: Sendable {
    /// Microseconds that the thread ran on a processor.
    package var taken: UInt64 = 0
    /// Microseconds that the thread waited for a processor; 0 if the system does not report it.
    package var queued: UInt64 = 0

    /// The processor time from the start of the process until now.
    package static var now: ProcessorTime {
        if let time = SchedulerTime.read("/proc/self/schedstat") {
            return ProcessorTime(taken: time.ran / 1000, queued: time.waited / 1000)
        }
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

/// The scheduler's run and wait times of a thread, in nanoseconds. Only Linux reports these times.
enum SchedulerTime {
    /// - Parameter path: a `schedstat` file: time on a processor, time waiting for a processor, number of time slices.
    /// - Returns: nil if the system has no such file.
    static func read(_ path: String) -> (ran: UInt64, waited: UInt64)? {
        let words = SmallFile.text(path)?.split { $0 == " " || $0 == "\n" }
        guard let words, words.count >= 2, let ran = UInt64(unbounded: words[0]),
            let waited = UInt64(unbounded: words[1])
        else { return nil }
        return (ran, waited)
    }
}

/// The load of this thread. Do not read the load for each push, because each reading needs system calls.
@Loop package struct ThreadTime {
    /// Nanoseconds that the thread had run or waited for a processor at the last reading.
    private var wanted: UInt64
    private var at: ContinuousClock.Instant
    /// The share of time that the thread ran or waited for a processor, between the last two readings; 0...1.
    package private(set) var share = 0.0

    package init() { (wanted, at) = (Self.read(), .now) }

    /// Updates ``share``, unless the last reading is less than 100 ms old.
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
