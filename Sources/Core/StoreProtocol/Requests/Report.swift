package import RedisProtocol

/// Reports outcomes of a batch's positions, and requests more send credit.
package struct Report: Request {
    package enum Reply: Equatable, Sendable {
        case taken(State)
        /// A reported position was not open, so nothing happened. The caller repeats the report without the positions that are
        /// not open.
        case map(Map)
        /// Redis ignored the report, because the worker may no longer decide about the batch (``Staleness``). From such a worker,
        /// Redis accepts only a report that contains nothing but delivered and failed items.
        case stale(State)
    }

    package struct State: Equatable, Sendable {
        /// The number of positions that are still open.
        package let open: Int
        package let granted: Int
        /// Whether no position is open and the batch is deleted.
        package let isDone: Bool
        package let staleness: Staleness?
        /// The batch's map: one byte per position, "." for an open position. Nil if ``open`` is the number that the caller
        /// expected. More open positions than expected mean that Redis lost recent writes. Fewer open positions than expected
        /// mean that another owner reported outcomes.
        package let map: [UInt8]?

        package init(
            open: Int, granted: Int, isDone: Bool, staleness: Staleness? = nil, map: [UInt8]? = nil
        ) {
            (self.open, self.granted, self.isDone) = (open, granted, isDone)
            (self.staleness, self.map) = (staleness, map)
        }
    }

    package struct Map: Equatable, Sendable {
        /// One byte per position, "." if open.
        package let positions: [UInt8]
        package let granted: Int
        package var staleness: Staleness?
    }

    /// Why the reporting worker may no longer decide about the batch.
    package enum Staleness: Int, Sendable {
        /// The shard has another owner.
        case fenced = 1
        /// Another worker has the batch, or the reporting worker checked the batch out again later.
        case redelivered
    }

    package static var script: Script? { .report }

    /// The fencing token of the batch's shard.
    package var token: FenceToken
    package var worker: String
    package var batch: BatchID
    package var delivery: Int
    /// The worker requests credit for the positions below this number. A number that is not higher than the granted number
    /// requests no credit.
    package var wanted: Int
    /// Whether ``entry`` contains only delivered and failed items.
    package var hasOnlyFacts: Bool
    /// The positions that ``entry`` reports.
    package var runs: PositionRuns
    /// The report, encoded by `ResultsBuilder`; empty if there are no runs.
    package var entry: [UInt8]
    /// The number of positions that should be open after the report; nil skips the comparison. With a number that cannot be
    /// right, such as -1, the reply contains the map.
    package var expectedOpen: Int?

    package init(
        token: FenceToken, worker: String, batch: BatchID, delivery: Int, wanted: Int, hasOnlyFacts: Bool,
        runs: PositionRuns, entry: [UInt8], expectedOpen: Int? = nil
    ) {
        (self.token, self.worker, self.batch, self.delivery) = (token, worker, batch, delivery)
        (self.wanted, self.hasOnlyFacts, self.runs, self.entry) = (wanted, hasOnlyFacts, runs, entry)
        self.expectedOpen = expectedOpen
    }

    package var words: [any CommandArgument] {
        precondition(runs.isEmpty == entry.isEmpty, "an entry comes with its positions")
        return [
            ScriptKeys.prefix, token, worker, batch, delivery, wanted, hasOnlyFacts, runs.bytes, entry,
            expectedOpen,
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        if value.array?.first?.bytes != nil {
            return .map(
                Map(
                    positions: try reader.bytes(), granted: try reader.integer(),
                    staleness: Staleness(rawValue: try reader.integer())))
        }
        let open = try reader.integer()
        let granted = try reader.integer()
        let isDone = try reader.flag()
        let staleness = Staleness(rawValue: try reader.integer())
        let isTaken = try reader.flag()
        let state = State(
            open: open, granted: granted, isDone: isDone, staleness: staleness,
            map: reader.isAtEnd ? nil : try reader.bytes())
        return isTaken ? .taken(state) : .stale(state)
    }
}
