/// Redis was reset to an earlier state.
package struct RollBack: Sendable {
    /// Data written in this time, in milliseconds since 1970, may be lost.
    package var forgotten: ClosedRange<Int64>
    /// From before Redis stopped until it replied again: the job records went back within this time.
    package var away: ClosedRange<Int64>

    package init(forgotten: ClosedRange<Int64>, away: ClosedRange<Int64>) {
        (self.forgotten, self.away) = (forgotten, away)
    }
}

/// The effects that the injected faults may have: every other one is a fault of the farm.
package struct Expectation: Sendable {
    /// Pushes that may have been delivered more than once.
    package var doubles: Int
    /// The longest time without a delivery after a fault, while there was something to deliver, in milliseconds.
    package var recovery: Int64?
    /// Tokens that may fail as poison.
    package var poison: Set<String> = []
    /// First attempts keep the order of their jobs; false if requests may be lost.
    package var keepsOrder = true
    /// Milliseconds that the gateway needs at least for a response.
    package var answerTime: Int64?
    /// Each worker has one connection and sends only for its own shards; false if a process was stopped for longer than its
    /// lease, or requests were delayed.
    package var hasOneSender = true
    package var rollBacks: [RollBack] = []
    /// The gateway's connections are numbered without gaps, and each stream is noted.
    package var streamsAreWhole = true

    package init(doubles: Int) { self.doubles = doubles }
}
