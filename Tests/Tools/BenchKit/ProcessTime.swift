package import Foundation

/// What a process has used of the machine's processors.
package enum ProcessTime {
    /// User and system time of all its threads since its start, to the nanosecond; 0 if it is gone.
    package static func seconds(of pid: pid_t) -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
