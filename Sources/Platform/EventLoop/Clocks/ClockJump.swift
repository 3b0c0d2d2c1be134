#if FAILPOINTS
    #if canImport(Glibc)
        import Glibc
    #else
        import Darwin
    #endif

    /// Shifts ``WallClock`` in a debug build on demand, as if an operator had set the host's clock.
    package enum ClockJump {
        /// `MOMENT:SECONDS,…`: from each moment of ``BootClock`` on, the clock is wrong by so many seconds.
        package static let variable = "PUSHFARM_FAILPOINTS_CLOCK"

        private static let jumps: [(moment: UInt64, milliseconds: Int64)] = {
            guard let text = getenv(variable) else { return [] }
            return String(cString: text).split(separator: ",").map { jump in
                let parts = jump.split(separator: ":")
                guard parts.count == 2, let moment = UInt64(foreign: parts[0]),
                    let seconds = Int64(foreign: parts[1])
                else {
                    // A test run without the fault would prove nothing.
                    fatalError("\(variable): \(jump)")
                }
                return (moment, seconds * 1000)
            }
        }()

        /// Milliseconds by which the clock is wrong.
        static var now: Int64 {
            guard !jumps.isEmpty else { return 0 }
            let moment = BootClock.milliseconds
            return jumps.last { $0.moment <= moment }?.milliseconds ?? 0
        }
    }
#endif
