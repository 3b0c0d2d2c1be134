import EventLoop

/// Tells Redis's time, so that all processes of a farm agree even if the clocks of their hosts differ.
///
/// Between two readings of Redis's time, the host's boot clock measures the time since the last reading. Before
/// Redis's time is first read, the host's time is used.
package struct RedisClock: Sendable {
    /// Milliseconds by which Redis's time is ahead of the host's boot clock.
    private var lead: Int64?

    package init() {}

    /// Redis's time in seconds since 1970.
    package var seconds: Int64 { milliseconds / 1000 }

    /// Redis's time in milliseconds since 1970.
    package var milliseconds: Int64 {
        guard let lead else { return WallClock.milliseconds }
        return Int64(BootClock.milliseconds) + lead
    }

    /// - Parameters:
    ///   - milliseconds: the time that Redis reported, in milliseconds since 1970.
    ///   - moment: the time of the boot clock when Redis's reply arrived, in milliseconds.
    mutating func observed(_ milliseconds: Int64, at moment: UInt64 = BootClock.milliseconds) {
        guard milliseconds > 0 else { return }
        lead = milliseconds - Int64(moment)
    }
}
