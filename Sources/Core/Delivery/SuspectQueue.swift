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
        waiting.removeAll { !$0.isSuspect || $0.standing != .ours || $0.isHalted }
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
