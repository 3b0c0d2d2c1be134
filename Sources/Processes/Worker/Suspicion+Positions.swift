import FarmStore

/// What a caution means for a batch's positions.
extension Suspicion {
    /// The first push without an outcome was in the air when a worker was lost.
    func hasSuspects(among positions: [HeldBatch.Position]) -> Bool {
        positions.firstIndex { !$0.isHanded }.map { $0 < suspect } ?? false
    }

    /// Where the group ends that begins with the first position which is not settled; nil when that is no suspect.
    func groupEnd(in positions: [HeldBatch.Position], granted: Int) -> Int? {
        var left = group
        var end: Int?
        for position in positions.indices.prefix(clamping: suspect) {
            guard positions[position] == .open || positions[position] == .inAir else { continue }
            // What was granted and is still to be sent goes first.
            if position < granted { return granted }
            end = position + 1
            left -= 1
            if left == 0 { break }
        }
        return end
    }
}
