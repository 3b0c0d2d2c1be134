package import PushModel

/// Which lane goes next: high before bulk, but when both wait, bulk gets one turn in eight.
package struct LaneShare: Hashable, Sendable {
    /// One in so many turns, or one part in so many of a credit, is for bulk.
    package let bulkEvery: Int
    private var turnsSinceBulk = 0
    private var partsOwed = 0

    package init(bulkEvery: Int = 8) {
        precondition(bulkEvery > 1, "bulk every \(bulkEvery)")
        self.bulkEvery = bulkEvery
    }

    /// The lane of the next batch; nil if none waits.
    package mutating func next(highWaits: Bool, bulkWaits: Bool) -> Lane? {
        guard highWaits, bulkWaits else {
            turnsSinceBulk = 0
            return highWaits ? .high : bulkWaits ? .bulk : nil
        }
        turnsSinceBulk += 1
        guard turnsSinceBulk == bulkEvery else { return .high }
        turnsSinceBulk = 0
        return .bulk
    }

    /// Divides a credit between the lanes; of small credits, bulk's parts add up until they make one.
    package mutating func divide(_ credit: Int, highWaits: Bool, bulkWaits: Bool) -> (high: Int, bulk: Int) {
        guard highWaits, bulkWaits else {
            partsOwed = 0
            return (highWaits ? credit : 0, bulkWaits ? credit : 0)
        }
        let (bulk, owed) = (partsOwed + credit).quotientAndRemainder(dividingBy: bulkEvery)
        partsOwed = owed
        return (credit - bulk, bulk)
    }
}
