/// The time for which a gateway must be silent before pushes that it has read count as accepted.
/// The quiet time must be longer than the gateway takes to refuse a push.
///
/// The quiet time starts with the configured minimum and grows with the observed reply times. A quiet time that was too short
/// once is never used again.
package struct QuietTime: Sendable {
    /// The minimum of the quiet time: at first the configured minimum, and after a quiet time that was too short, twice that
    /// time.
    private var least: Duration
    package let longest: Duration
    /// The delays of the last ``remembered`` replies in milliseconds. A new delay replaces the oldest delay.
    private var delays: [Int64] = []
    private var next = 0
    private static let remembered = 256

    package init(least: Duration = .seconds(1), longest: Duration = .seconds(5)) {
        self.least = least
        self.longest = max(least, longest)
        current = least
    }

    /// The quiet time: 1.5 times the 99th percentile of the reply times, within the limits.
    package private(set) var current: Duration

    /// The 99th percentile of the reply times; nil before the first reply.
    package private(set) var usualReply: Duration?

    /// Notes the time between the arrival of a push at the gateway and the reply that names the push.
    package mutating func replied(after delay: Duration) {
        let milliseconds = Int64(clamping: delay / .milliseconds(1))
        if delays.count < Self.remembered {
            delays.append(milliseconds)
        } else {
            delays[next] = milliseconds
            next = (next + 1) % Self.remembered
        }
        let sorted = delays.sorted()
        let high = sorted[(sorted.count * 99 + 99) / 100 - 1]
        usualReply = .milliseconds(high)
        current = min(max(least, .milliseconds(high) + .milliseconds(high / 2)), longest)
    }

    /// Notes that the quiet time was too short. A reply named a push that already counted as accepted.
    package mutating func wasTooShort() {
        least = min(current * 2, longest)
        current = least
    }
}
