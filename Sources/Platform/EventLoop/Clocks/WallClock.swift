#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The system clock: for times that other systems gave or will read, never for timeouts.
package enum WallClock {
    /// Seconds since 1970.
    package static var seconds: Int64 { milliseconds / 1000 }

    /// Milliseconds since 1970.
    package static var milliseconds: Int64 { microseconds / 1000 }

    /// Microseconds since 1970.
    package static var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        #if FAILPOINTS
            return microseconds + ClockJump.now * 1000
        #else
            return microseconds
        #endif
    }
}
