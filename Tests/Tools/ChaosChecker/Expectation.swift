/// Redis was put back to what it had some time before.
package struct RollBack: Sendable {
    /// What was written in this time, in milliseconds since 1970, may be lost.
    package var forgotten: ClosedRange<Int64>
    /// From before it was stopped until it was known to answer again: at some moment of it the books went back.
    package var away: ClosedRange<Int64>

    package init(forgotten: ClosedRange<Int64>, away: ClosedRange<Int64>) {
        (self.forgotten, self.away) = (forgotten, away)
    }
}

/// What may be after what was done: everything else is a fault of the farm.
package struct Expectation: Sendable {
    /// Pushes that may have been delivered more than once.
    package var doubles: Int
    /// The longest time without a delivery after a fault, while there was something to deliver, in milliseconds.
    package var recovery: Int64?
    /// Tokens that may fail as poison.
    package var poison: Set<String> = []
    /// First attempts keep the order of their jobs; not when requests are lost on their way.
    package var keepsOrder = true
    /// The gateway answers no request earlier, in milliseconds after it came.
    package var answerTime: Int64?
    /// Each worker has one connection, and nobody sends for a shard that is another's; not when somebody was stopped for longer than his lease, or requests were
    /// held up on their way.
    package var hasOneSender = true
    package var rollBacks: [RollBack] = []
    /// The gateway's connections are numbered through, and each of its streams is noted.
    package var streamsAreWhole = true

    package init(doubles: Int) { self.doubles = doubles }
}
