import EventLoop

/// What time it is by Redis, on which all processes of a farm agree, whatever the clocks of their hosts say.
///
/// Redis's time is carried on by a clock that never jumps. Until Redis has been heard it is the host's.
package struct RedisClock: Sendable {
    /// Milliseconds by which Redis's time is ahead of the host's boot clock.
    private var lead: Int64?

    package init() {}

    /// Seconds since 1970.
    package var seconds: Int64 { milliseconds / 1000 }

    /// Milliseconds since 1970.
    package var milliseconds: Int64 {
        guard let lead else { return WallClock.milliseconds }
        return Int64(BootClock.milliseconds) + lead
    }

    /// - Parameters:
    ///   - milliseconds: since 1970, as Redis said.
    ///   - moment: of the boot clock, when it was said.
    mutating func observed(_ milliseconds: Int64, at moment: UInt64 = BootClock.milliseconds) {
        guard milliseconds > 0 else { return }
        lead = milliseconds - Int64(moment)
    }
}
