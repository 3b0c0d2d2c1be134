/// For how long a gateway has to be quiet until what it was sent counts as accepted: longer than its replies take.
///
/// Starts with what is configured, never goes below it, and above it as far as the replies that were seen ask for. What was too
/// short once stays short.
package struct QuietTime: Sendable {
    /// What is configured, or twice what turned out to be too short.
    private var least: Duration
    package let longest: Duration
    /// The delays of the last replies, in milliseconds; the next one replaces the oldest.
    private var delays: [Int64] = []
    private var place = 0
    private static let remembered = 256

    package init(least: Duration = .seconds(1), longest: Duration = .seconds(5)) {
        self.least = least
        self.longest = max(least, longest)
        current = least
    }

    /// Half as much again as all but one in a hundred of the replies took.
    package private(set) var current: Duration

    /// What all but one in a hundred of the replies took; nil: none has come.
    package private(set) var usualReply: Duration?

    /// A reply came so long after the push that it names had arrived.
    package mutating func replied(after delay: Duration) {
        let milliseconds = Int64(clamping: delay / .milliseconds(1))
        if delays.count < Self.remembered {
            delays.append(milliseconds)
        } else {
            delays[place] = milliseconds
            place = (place + 1) % Self.remembered
        }
        let sorted = delays.sorted()
        let high = sorted[(sorted.count * 99 + 99) / 100 - 1]
        usualReply = .milliseconds(high)
        current = min(max(least, .milliseconds(high) + .milliseconds(high / 2)), longest)
    }

    /// A reply came after it: what it is about had been taken for accepted.
    package mutating func wasTooShort() {
        least = min(current * 2, longest)
        current = least
    }
}
