import CheckedNumbers
import PushModel

/// A time of the wall clock: milliseconds since 1970-01-01 00:00 UTC, without leap seconds.
///
/// The number is limited to ±2^48, which are years before -6,900 and after 10,800. Calculations that leave this range give the
/// nearest limit, so they never overflow.
package struct UTCTime: Hashable, Comparable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = Int64(foreign: milliseconds) }

    package init(seconds: Int64) { self.init(milliseconds: seconds.multiplied(saturating: 1000)) }

    /// The whole seconds since 1970, rounded down.
    package var seconds: Int64 { milliseconds.dividedDown(by: 1000).quotient }

    package func adding(milliseconds other: Int64) -> UTCTime {
        UTCTime(milliseconds: milliseconds.adding(saturating: other))
    }

    package static func < (left: UTCTime, right: UTCTime) -> Bool { left.milliseconds < right.milliseconds }
}
