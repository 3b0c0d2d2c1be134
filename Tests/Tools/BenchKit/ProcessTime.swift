package import Foundation

/// Reads the processor time of a process.
package enum ProcessTime {
    /// Returns user and system time of all threads of a process since its start, with nanosecond resolution. Returns 0 if the
    /// process has ended.
    package static func seconds(of pid: pid_t) -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
