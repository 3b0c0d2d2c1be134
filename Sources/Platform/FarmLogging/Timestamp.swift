import POSIX
import PushModel

/// A time of the wall clock, written as RFC 3339 in UTC with milliseconds: `2026-01-31T09:05:00.123Z`.
package struct Timestamp: Sendable, Equatable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01 UTC.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    package var description: String {
        let (days, rest) = milliseconds.dividedDown(by: 86_400_000)
        let seconds = rest / 1000
        let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { CivilDate.padded($0, to: 2) }
        let fraction = CivilDate.padded(rest % 1000, to: 3)
        return "\(CivilDate(dayNumber: days))T\(time.joined(separator: ":")).\(fraction)Z"
    }
}
