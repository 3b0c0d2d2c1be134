#if FAILPOINTS
    #if canImport(Glibc)
        import Glibc
    #else
        import Darwin
    #endif

    /// Makes the clock on the wall wrong in a debug build that is told to, as if an operator had set this host's.
    package enum ClockJump {
        /// Has `MOMENT:SECONDS` with commas between them: how wrong the clock is from a moment of ``BootClock`` on.
        package static let variable = "PUSHFARM_FAILPOINTS_CLOCK"

        private static let jumps: [(moment: UInt64, milliseconds: Int64)] = {
            guard let text = getenv(variable) else { return [] }
            return String(cString: text).split(separator: ",").map { jump in
                let parts = jump.split(separator: ":")
                guard parts.count == 2, let moment = UInt64(foreign: parts[0]),
                    let seconds = Int64(foreign: parts[1])
                else {
                    // A run in which nothing is wrong would prove nothing.
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
