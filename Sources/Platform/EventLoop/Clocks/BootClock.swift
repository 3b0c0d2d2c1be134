#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A clock that all processes of a host share. It runs while the host sleeps and never jumps; leases use it.
package enum BootClock {
    /// Milliseconds since the host started.
    package static var milliseconds: UInt64 {
        var time = timespec()
        #if canImport(Glibc)
            clock_gettime(CLOCK_BOOTTIME, &time)
        #else
            clock_gettime(CLOCK_MONOTONIC, &time)
        #endif
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
