package import Foundation

/// The processor time of a process.
package enum ProcessTime {
    /// User and system time of all its threads since its start, to the nanosecond; 0 if the process has ended.
    package static func seconds(of pid: pid_t) -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
