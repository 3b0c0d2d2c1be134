package import RedisProtocol

/// Reports outcomes of a batch's positions, and asks for more credit.
package struct Report: Request {
    package enum Reply: Equatable, Sendable {
        case taken(State)
        /// A position of the runs was not open: nothing happened. Drop those that are not open from the report, and make
        /// it again.
        case map(Map)
        /// Nothing happened: the shard, the worker or the delivery is not the current one, and the entry decides about
        /// more than facts.
        case stale(State)
    }

    package struct State: Equatable, Sendable {
        /// Positions still open.
        package let open: Int
        package let granted: Int
        /// No position is open and the batch is gone.
        package let isDone: Bool
        package let staleness: Staleness?
        /// When ``open`` is not what the caller expected: one byte a position, "." if open. With more open than expected
        /// Redis went back in time; with less, another owner reported outcomes.
        package let map: [UInt8]?

        package init(
            open: Int, granted: Int, isDone: Bool, staleness: Staleness? = nil, map: [UInt8]? = nil
        ) {
            (self.open, self.granted, self.isDone) = (open, granted, isDone)
            (self.staleness, self.map) = (staleness, map)
        }
    }

    package struct Map: Equatable, Sendable {
        /// One byte a position, "." if open.
        package let positions: [UInt8]
        package let granted: Int
        package var staleness: Staleness?
    }

    /// Why the reporter may not decide about the batch any more.
    package enum Staleness: Int, Sendable {
        /// The shard has another owner.
        case fenced = 1
        /// Another worker has the batch, or this one has checked it out again.
        case redelivered
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
    /// Positions that should be open when Redis has the report; nil: they are not compared. With a number that cannot be
    /// the map comes in any case.
    package var expectedOpen: Int?

    package init(
        token: FenceToken, worker: String, batch: BatchID, delivery: Int, wanted: Int, isFactsOnly: Bool,
        runs: PositionRuns, entry: [UInt8], expectedOpen: Int? = nil
    ) {
        (self.token, self.worker, self.batch, self.delivery) = (token, worker, batch, delivery)
        (self.wanted, self.isFactsOnly, self.runs, self.entry) = (wanted, isFactsOnly, runs, entry)
        self.expectedOpen = expectedOpen
    }

    package var words: [any CommandWord] {
        precondition(runs.isEmpty == entry.isEmpty, "an entry comes with its positions")
        return [
            ScriptKeys.prefix, token, worker, batch, delivery, wanted, isFactsOnly, runs.bytes, entry,
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
