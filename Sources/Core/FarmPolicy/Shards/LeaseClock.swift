/// Until when pushes may be started under the leases of a host's coordinator.
///
/// Redis counts a lease from when it takes the call; we count it from before the call, and stop a margin before its end:
/// so no other host can own a shard while we still start pushes for it. Moments are milliseconds of a clock that all
/// processes of the host share and that runs while the host is suspended; the wall clock does not matter.
package struct LeaseClock: Hashable, Sendable {
    /// How long Redis keeps a lease.
    package static let lease = Duration.seconds(10)
    /// Nothing is started in a lease's last moments, so that pushes leave the host before its end.
    package static let margin = Duration.seconds(2)
    package static let renewInterval = Duration.seconds(3)

    /// Nothing is started from then on.
    package private(set) var end: UInt64

    package init(end: UInt64 = 0) { self.end = end }

    /// Redis has confirmed every lease; the first call was made at `start`.
    package mutating func confirmed(from start: UInt64) {
        end = max(end, start + UInt64(clamping: (Self.lease - Self.margin) / .milliseconds(1)))
    }

    package func mayStart(at now: UInt64) -> Bool { now < end }
}
