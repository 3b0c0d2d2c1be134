/// Milliseconds since a start, for pushes: worked out once for all that share a moment.
struct MillisecondClock {
    private let start: ContinuousClock.Instant
    private var moment: ContinuousClock.Instant
    /// What was read last; it wraps after 49 days, and so do differences.
    private(set) var last: UInt32 = 0

    init(start: ContinuousClock.Instant) { (self.start, moment) = (start, start) }

    mutating func read(_ now: ContinuousClock.Instant) -> UInt32 {
        guard now != moment else { return last }
        moment = now
        let (seconds, attoseconds) = (now - start).components
        last = UInt32(truncatingIfNeeded: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        return last
    }
}
