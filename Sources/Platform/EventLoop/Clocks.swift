import POSIX

/// The system clock. Use this clock for times that are exchanged with other systems, and never for timeouts.
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

/// A clock that all processes of a host share. The clock also runs while the host sleeps, and does not change when the host's
/// time is set. Leases use this clock.
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

#if FAILPOINTS
    /// In a debug build, shifts ``WallClock`` at given moments, as if an operator had set the host's clock.
    package enum ClockJump {
        /// The environment variable with the shifts: `MOMENT:SECONDS,…`. When ``BootClock`` reaches `MOMENT` (milliseconds),
        /// ``WallClock`` is shifted by `SECONDS` until the next `MOMENT`.
        package static let variable = "PUSHFARM_FAILPOINTS_CLOCK"

        private static let jumps: [(moment: UInt64, milliseconds: Int64)] = {
            guard let text = getenv(variable) else { return [] }
            return String(cString: text).split(separator: ",").map { jump in
                let parts = jump.split(separator: ":")
                guard parts.count == 2, let moment = UInt64(foreign: parts[0]),
                    let seconds = Int64(foreign: parts[1])
                else {
                    // A malformed value ends the process. Otherwise a test would run without its clock fault and prove nothing.
                    fatalError("\(variable): \(jump)")
                }
                return (moment, seconds * 1000)
            }
        }()

        /// The present shift of ``WallClock`` in milliseconds.
        static var now: Int64 {
            guard !jumps.isEmpty else { return 0 }
            let moment = BootClock.milliseconds
            return jumps.last { $0.moment <= moment }?.milliseconds ?? 0
        }
    }
#endif
