package import StoreProtocol

/// The next step with the taken jobs, which Redis carries out as a whole.
package enum IntakeStep {
    case split(Plan)
    /// The first job is dropped, its original kept for inspection.
    case refuse(Refusal)

    /// Job records and batches, as ``Split`` takes them.
    package struct Plan {
        package var dropped = 0
        package var head: IntakeHead?
        package var jobs: [Split.Job] = []
        package var batches: [Split.NewBatch] = []

        /// Shards that get batches which are due now.
        package var readyShards: [Int] { Array(Set(batches.lazy.filter { $0.due == 0 }.map(\.shard))) }
    }

    package struct Refusal {
        package var job: String?
        package var field: String
        /// In bytes.
        package var position: Int
        package var reason: String
        package var original: [UInt8]
        /// A job with its id is open, or is younger than 24 hours.
        package var isDuplicate = false
    }
}

/// Limits of one step of intake. They keep Redis busy for at most 5 ms, or 10 ms with small jobs: the more of them are in a
/// step, the larger are its batches.
package struct StepLimits: Sendable {
    package let tokens: Int
    package let jobs: Int
    package let batches: Int
    /// Events about malformed tokens.
    package let events: Int
    /// Of all bodies together; a single push may exceed it.
    package let bytes: Int
    /// Of one batch.
    package let positions: Int
    /// When so many tokens are in and more are waiting, a full batch ends the step: the rest of its shard would
    /// start a small one.
    package let tokensBeforeEarlyEnd: Int

    package init(
        tokens: Int = 16_384, jobs: Int = 640, batches: Int = 128, events: Int = 256, bytes: Int = 2 << 20,
        positions: Int = 256, tokensBeforeEarlyEnd: Int = 8_192
    ) {
        (self.tokens, self.jobs, self.batches, self.events) = (tokens, jobs, batches, events)
        (self.bytes, self.positions) = (bytes, positions)
        self.tokensBeforeEarlyEnd = tokensBeforeEarlyEnd
    }
}
