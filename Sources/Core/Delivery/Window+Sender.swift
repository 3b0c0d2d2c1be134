package import PushModel
package import StoreProtocol

/// What a sender reads of the window, and what it sets besides batches and responses.
extension Window {
    // MARK: Held batches

    /// No batch is held.
    package var isEmpty: Bool { held.isEmpty }
    /// Batches held.
    package var batchCount: Int { held.count }
    package var holdsBulk: Bool { held.values.contains { $0.lane == .bulk } }

    package func batch(_ number: UInt32) -> HeldBatch? { held[number] }

    package func batch(_ id: BatchID) -> HeldBatch? { held[id] }

    /// Drops outcomes of batches that were released too long ago for Redis to have lost them.
    package func dropOldOutcomes() { repeats.dropOld(at: now) }

    // MARK: Shards

    /// The shard's token, whether it is served or being withdrawn.
    package func token(of shard: Int) -> FenceToken? { shards.token(of: shard) }

    /// The shard's token if it is served.
    package func servedToken(of shard: Int) -> FenceToken? { shards.tokens[shard] }

    /// Redis may have batches of these shards.
    package func mayHaveBatches(_ numbers: some Sequence<Int>) { shards.mayHaveBatches(numbers) }

    /// Redis may have batches of every shard.
    package func mayHaveBatches() { shards.allMayHaveBatches() }

    /// A checkout is under way.
    package var isCheckingOut: Bool { checkouts.isPending }

    // MARK: Turns

    /// A new turn begins: batches that were passed over in the last one have their turn again.
    package func beginTurn() { queues.beginTurn() }

    /// The batch cannot be sent now, though others of its lane can: it is passed over for the rest of the turn.
    package func pass(_ batch: HeldBatch) { queues.pass(batch) }

    package var hasPassedBatches: Bool { queues.hasPassed }

    /// Pushes that may be sent, at most.
    package var sendable: Int { queues.sendable }

    /// Batches of a lane that may be sent.
    package func waitingBatches(of lane: Lane) -> Int { queues.count(lane) }

    // MARK: Settings

    /// - Parameter floor: percent of the pushes that are bulk while high waits, too.
    package func setBulkFloor(_ floor: Int) { queues.setBulkFloor(floor) }

    /// The most credit that may be granted and unreported.
    package func setCreditLimit(_ limit: Int) { credit.limit = limit }

    /// Reports name the positions that were delivered.
    package func setMarksDelivered(_ marksDelivered: Bool) { builder.marksDelivered = marksDelivered }
}
