package import RESP

/// Hands outcomes of a batch's positions over, and asks for more credit.
///
/// Made for the hot path: ``write(_:to:)`` copies ids, runs and entry once, into the command.
package struct Report: Request {
    package enum Reply: Equatable, Sendable {
        case taken(State)
        /// A position of the runs was not open: nothing happened. One byte a position, "." if open: drop the others
        /// from the report and make it again.
        case map([UInt8])
        /// Nothing happened: the shard, the worker or the delivery is not the current one, and the entry decides about
        /// more than facts.
        case stale(State)
    }

    package struct State: Equatable, Sendable {
        /// Positions still open. When it differs from the worker's own number, Redis went back in time: report again.
        package let open: Int
        package let granted: Int
        /// No position is open and the batch is gone.
        package let isDone: Bool
        /// The facts were taken although the report is stale: drop the batch, no more will be granted.
        package let isStale: Bool
    }

    package static var script: Script? { .report }

    /// Of the batch's shard.
    package var token: FenceToken
    package var worker: String
    package var batch: BatchID
    package var delivery: Int
    /// Positions below it are asked for; no more than was granted asks for nothing.
    package var wanted: Int
    /// The entry holds delivered and failed items only.
    package var isFactsOnly: Bool
    /// The positions that the entry is about.
    package var runs: PositionRuns
    /// As `ResultsBuilder` makes it; empty with no runs.
    package var entry: [UInt8]

    package init(
        token: FenceToken, worker: String, batch: BatchID, delivery: Int, wanted: Int, isFactsOnly: Bool,
        runs: PositionRuns, entry: [UInt8]
    ) {
        (self.token, self.worker, self.batch, self.delivery) = (token, worker, batch, delivery)
        (self.wanted, self.isFactsOnly, self.runs, self.entry) = (wanted, isFactsOnly, runs, entry)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        precondition(runs.isEmpty == entry.isEmpty, "an entry comes with its positions")
        command.append(keys)
        command.append(token.bytes)
        command.append(worker)
        command.append(batch.bytes)
        command.append(delivery)
        command.append(wanted)
        command.append(isFactsOnly)
        command.append(runs.bytes)
        command.append(entry)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        if let parts = value.array, parts.count == 1, let map = parts[0].bytes { return .map(map) }
        var reader = try ReplyReader(value, "report")
        let state = State(
            open: try reader.integer(), granted: try reader.integer(), isDone: try reader.integer() == 1,
            isStale: try reader.integer() > 0)
        return try reader.integer() == 1 ? .taken(state) : .stale(state)
    }
}
