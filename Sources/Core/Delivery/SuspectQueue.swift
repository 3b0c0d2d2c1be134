import StoreProtocol

/// Batches with pushes that may have crashed a worker: they are sent one after the other, each alone.
struct SuspectQueue {
    /// Those with pushes that may be sent.
    private var waiting: [HeldBatch] = []
    /// The same, and those that may send nothing for now.
    private var all: [HeldBatch] = []

    mutating func add(_ batch: HeldBatch) {
        if !waiting.contains(where: { $0 === batch }) { waiting.append(batch) }
        if !all.contains(where: { $0 === batch }) { all.append(batch) }
    }

    mutating func remove(_ batch: HeldBatch) {
        if !waiting.isEmpty { waiting.removeAll { $0 === batch } }
    }

    /// The batch that is to be sent next with nothing else in flight, if there is one.
    mutating func first() -> HeldBatch? {
        guard !waiting.isEmpty else { return nil }
        waiting.removeAll { !$0.isSuspect || $0.ownership != .ours || $0.isHalted }
        // One that has credit, such as of a shard that was withdrawn and is back, goes before those that wait for theirs.
        return waiting.first { $0.exposure + $0.asked > 0 } ?? waiting.first
    }

    /// Pushes of a suspect batch are in flight, whether more of it may be sent or not.
    mutating func hasInFlight() -> Bool {
        guard !all.isEmpty else { return false }
        all.removeAll { $0.isReleased || !$0.isSuspect }
        return all.contains { $0.inFlight > 0 }
    }
}

/// What a suspicion means for a batch's positions.
extension Suspicion {
    /// The first push without an outcome was in flight when a worker was lost.
    func hasSuspects(among positions: [HeldBatch.PushState]) -> Bool {
        positions.firstIndex { !$0.isReported }.map { $0 < suspect } ?? false
    }

    /// Where the group ends that begins with the first position which has no outcome; nil when that is no suspect.
    func groupEnd(in positions: [HeldBatch.PushState], granted: Int) -> Int? {
        var left = group
        var end: Int?
        for position in positions.indices.prefix(clamping: suspect) {
            guard positions[position] == .open || positions[position] == .inFlight else { continue }
            // What was granted and is still to be sent goes first.
            if position < granted { return granted }
            end = position + 1
            left -= 1
            if left == 0 { break }
        }
        return end
    }
}
