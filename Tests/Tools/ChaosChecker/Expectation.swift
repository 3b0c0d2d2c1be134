/// A reset of Redis to an earlier state.
package struct RollBack: Sendable {
    /// Redis may have lost the data that it wrote in this time range, in milliseconds since 1970.
    package var forgotten: ClosedRange<Int64>
    /// The time range from the last moment before Redis stopped until Redis replied again. In this range the job
    /// records changed back to the earlier state.
    package var away: ClosedRange<Int64>

    package init(forgotten: ClosedRange<Int64>, away: ClosedRange<Int64>) {
        (self.forgotten, self.away) = (forgotten, away)
    }
}

/// The effects that the injected faults may have. Any other effect is a fault of the farm.
package struct Expectation: Sendable {
    /// The most pushes that may be delivered more than once.
    package var doubles: Int
    /// The longest time without a delivery after a fault while there are pushes to deliver, in milliseconds.
    package var recovery: Int64?
    /// Tokens that may fail as poison.
    package var poison: Set<String> = []
    /// Whether first attempts keep the order of their jobs. False if requests may be lost.
    package var keepsOrder = true
    /// The least time that the gateway needs for a response, in milliseconds.
    package var responseTime: Int64?
    /// Whether each worker has one connection and sends only for its own shards. False if a process was stopped
    /// for longer than its lease, or if requests were delayed.
    package var hasOneSender = true
    package var rollBacks: [RollBack] = []
    /// Whether the gateway numbers its connections without gaps and notes each stream.
    package var streamsAreWhole = true

    package init(doubles: Int) { self.doubles = doubles }
}
