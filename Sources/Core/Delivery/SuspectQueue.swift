import StoreProtocol

/// Batches with pushes that may have crashed a worker. This worker sends one suspect batch at a time and has no other push in
/// flight during this time.
struct SuspectQueue {
    /// Suspect batches with sendable pushes.
    private var waiting: [HeldBatch] = []
    /// All suspect batches, including batches that may send nothing now.
    private var all: [HeldBatch] = []

    mutating func add(_ batch: HeldBatch) {
        if !waiting.contains(where: { $0 === batch }) { waiting.append(batch) }
        if !all.contains(where: { $0 === batch }) { all.append(batch) }
    }

    mutating func remove(_ batch: HeldBatch) {
        if !waiting.isEmpty { waiting.removeAll { $0 === batch } }
    }

    /// Returns the next suspect batch, which must be sent with no other push in flight.
    mutating func first() -> HeldBatch? {
        guard !waiting.isEmpty else { return nil }
        waiting.removeAll { !$0.isSuspect || $0.ownership != .ours || $0.isHalted }
        // A batch that has credit, for example after its shard was withdrawn from this worker and assigned to it again,
        // precedes batches without credit.
        return waiting.first { $0.creditInUse + $0.asked > 0 } ?? waiting.first
    }

    /// Whether pushes of any suspect batch are in flight, even of a batch with no more pushes to send.
    mutating func hasInFlight() -> Bool {
        guard !all.isEmpty else { return false }
        all.removeAll { $0.isReleased || !$0.isSuspect }
        return all.contains { $0.inFlight > 0 }
    }
}

/// Applies a suspicion to a batch's positions.
extension Suspicion {
    /// Whether the first push without an outcome was in flight when a worker crashed.
    func hasSuspects(among positions: [HeldBatch.PushState]) -> Bool {
        positions.firstIndex { !$0.isReported }.map { $0 < suspect } ?? false
    }

    /// Returns the end of the suspect group that starts at the first position without an outcome; nil when that
    /// position is not suspect.
    func groupEnd(in positions: [HeldBatch.PushState], granted: Int) -> Int? {
        var remaining = group
        var end: Int?
        for position in positions.indices.prefix(clamping: suspect) {
            guard positions[position] == .open || positions[position] == .inFlight else { continue }
            // While a granted position has no outcome, no further position is requested.
            if position < granted { return granted }
            end = position + 1
            remaining -= 1
            if remaining == 0 { break }
        }
        return end
    }
}
