/// Decides how many pushes of a campaign may be sent now.
///
/// A pace permits pushes only at allowed times. Pushes that are spread evenly have the rate: pushes left divided by
/// sending time left. So the rate rises a little after a pause or an outage, and the time without sending is never made
/// up in a burst.
///
/// **Bounds.** Let R be the highest rate that the pace had in a second of the monotonic clock. In this second the pace permits
/// at most R × 1.25 + 1 pushes, because the credit at the start of the second is at most R × 0.25 + 1. R never exceeds
/// the ceiling. Jumps of the wall clock move the allowed times, but only the monotonic clock earns credit.
///
/// **Completeness.** Evenly spread pushes are all sent by the end if the ceiling allows, the caller asks at least four times a
/// second, and the last pause ends three seconds before the last allowed time.
package struct Pace: Sendable {
    /// A point on the monotonic clock.
    package typealias Instant = ContinuousClock.Instant

    /// The credit is at most one push plus the pushes of this many seconds at the present rate.
    private static let burst = 0.25
    /// A caller gets at least the pushes of this many seconds at the present rate, or all that are left.
    private static let least = 0.05
    /// An even rate is computed as if the allowed times ended this many milliseconds earlier. The reserve absorbs late
    /// calls. The reserve is at most a fiftieth of the allowed times.
    private static let longestReserve: Int64 = 2_000
    /// When fewer than this many milliseconds are left, the even rate no longer changes, because a division by a very
    /// short time would give a very high rate. The number is at most a tenth of the allowed times.
    private static let longestHold: Int64 = 1_000

    private let times: TimeRangeSet
    private let isEven: Bool
    private let reserve: Int64
    private let hold: Int64
    /// The highest allowed rate in pushes a second.
    package private(set) var ceiling: Double
    /// The rate of the last call in pushes a second; 0 before the first call at an allowed time.
    package private(set) var rate = 0.0
    private var credit = 0.0
    private var lastCall: Instant?

    /// - Parameters:
    ///   - times: the times at which the campaign may send.
    ///   - isEven: whether to spread the pushes evenly over the times. If false, the campaign sends at the ceiling.
    ///   - ceiling: the highest allowed rate in pushes a second, above 0.
    package init(_ times: TimeRangeSet, isEven: Bool, ceiling: Double) {
        precondition(ceiling > 0, "a ceiling of \(ceiling) pushes a second")
        (self.times, self.isEven, self.ceiling) = (times, isEven, ceiling)
        reserve = min(Self.longestReserve, times.total / 50)
        hold = max(1, min(Self.longestHold, times.total / 10))
    }

    /// Changes the highest allowed rate in pushes a second, which must be above 0. With a lower rate, the next call to
    /// ``available(left:at:_:)`` also lowers the credit.
    package mutating func change(ceiling: Double) {
        precondition(ceiling > 0, "a ceiling of \(ceiling) pushes a second")
        self.ceiling = ceiling
        rate = isEven ? min(rate, ceiling) : ceiling
    }

    /// Returns how many pushes may be sent now. The caller then reports the pushes that it sends with ``take(_:)``.
    ///
    /// The result is 0 until the credit is enough for all pushes that are left, or for the pushes of 50 ms. A caller that sent
    /// every small credit at once would divide the pushes into many small batches, which cost Redis and workers several times
    /// as much. In the last millisecond of an allowed range, the result is the whole credit.
    ///
    /// - Parameters:
    ///   - left: the pushes that remain to be sent. The number may change between two calls in any way.
    ///   - time: the time of the wall clock, which decides whether sending is allowed.
    ///   - instant: the time of the monotonic clock, which earns credit.
    package mutating func available(left: Int, at time: UTCTime, _ instant: Instant) -> Int {
        let elapsed = lastCall.map { max(0, (instant - $0) / .milliseconds(1)) } ?? 0
        lastCall = instant
        guard left > 0, let range = times.range(at: time) else {
            credit = 0
            return 0
        }
        updateRate(left: left, at: time)
        // The time before the start of the allowed range earns no credit.
        let inRange = Double(time.milliseconds - range.lowerBound.milliseconds)
        credit = min(credit + rate * min(elapsed, inRange) / 1000, mostCredit)
        let isLast = time >= range.upperBound.adding(milliseconds: -1)
        return isLast || credit >= min(Double(left), leastStep) ? min(left, Int(clamping: credit)) : 0
    }

    /// Notes that pushes were sent. The count is at most the last result of ``available(left:at:_:)``.
    package mutating func take(_ count: Int) { credit = max(0, credit - Double(max(0, count))) }

    /// Returns the time of the wall clock at which to ask again; nil if no allowed time is left.
    package func nextCall(after time: UTCTime) -> UTCTime? {
        guard let range = times.range(at: time) else { return times.range(after: time)?.lowerBound }
        guard rate > 0 else { return time.adding(milliseconds: 1) }
        let wait = Int64(clamping: ((leastStep - credit) * 1000 / rate).rounded(.up))
        // Wait at most a second: a low rate may rise when pushes are added.
        let next = time.adding(milliseconds: min(max(1, wait), 1_000))
        let last = range.upperBound.adding(milliseconds: -1)
        return time < last ? min(next, last) : times.range(after: time)?.lowerBound
    }

    /// Returns how many pushes cannot be sent in the allowed times that are left, even at the ceiling.
    package func shortfall(left: Int, at time: UTCTime) -> Int {
        let possible = ceiling * Double(times.remaining(at: time)) / 1000
        return max(0, left.adding(saturating: -Int(clamping: possible.rounded(.down))))
    }

    private var mostCredit: Double { 1 + rate * Self.burst }
    private var leastStep: Double { max(1, (rate * Self.least).rounded(.down)) }

    private mutating func updateRate(left: Int, at time: UTCTime) {
        guard isEven else {
            rate = ceiling
            return
        }
        let remaining = times.remaining(at: time) - reserve
        guard remaining >= hold || rate == 0 else { return }
        rate = min(ceiling, Double(left) * 1000 / Double(max(hold, remaining)))
    }
}
