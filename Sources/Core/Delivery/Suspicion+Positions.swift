import StoreProtocol

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
