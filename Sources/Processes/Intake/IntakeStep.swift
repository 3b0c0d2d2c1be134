import StoreProtocol

/// The next thing to be done with the taken jobs.
enum IntakeStep {
    case split(Plan)
    /// The first job is dropped, its original kept for inspection.
    case refuse(Refusal)

    /// Accounts and batches, as ``Split`` takes them.
    struct Plan {
        var dropped = 0
        var head: IntakeHead?
        var jobs: [Split.Job] = []
        var batches: [Split.NewBatch] = []

        /// Shards that get batches for now.
        var rung: [Int] { Array(Set(batches.lazy.filter { $0.due == 0 }.map(\.shard))) }
    }

    struct Refusal {
        var job: String?
        var field: String
        /// In bytes.
        var position: Int
        var reason: String
        var original: [UInt8]
        /// A job of its id is open, or younger than 24 hours.
        var isDuplicate = false
    }
}
