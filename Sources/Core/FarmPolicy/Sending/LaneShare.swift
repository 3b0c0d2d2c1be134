package import PushModel

/// Which lane's pushes go next: high before bulk, but while both wait bulk has a floor, a part of all that is sent.
package struct LaneShare: Hashable, Sendable {
    /// Percent of the pushes.
    package let bulkFloor: Int
    /// Bulk pushes that go in a row when it is their turn: fewer would make batches and frames small.
    private static let quantum = 16
    /// What bulk is owed at most, in turns: it cannot save up.
    private static let mostTurns = 4
    /// What bulk is owed, in hundredths of a push.
    private var owed = 0

    package init(bulkFloor: Int = 10) {
        precondition((0...90).contains(bulkFloor), "a floor of \(bulkFloor) percent")
        self.bulkFloor = bulkFloor
    }

    /// High has had so much that bulk goes first now.
    package var isBulkDue: Bool { owed >= 100 * Self.quantum }

    /// The lane that goes next, and how many of its pushes may go before this is asked again; nil if none waits.
    package func next(highWaits: Bool, bulkWaits: Bool) -> (lane: Lane, atMost: Int)? {
        guard highWaits, bulkWaits else { return highWaits ? (.high, .max) : bulkWaits ? (.bulk, .max) : nil }
        if isBulkDue { return (.bulk, owed / 100) }
        guard bulkFloor > 0 else { return (.high, .max) }
        return (.high, (100 * Self.quantum - owed + bulkFloor - 1) / bulkFloor)
    }

    /// So many pushes of a lane were sent.
    ///
    /// - Parameter otherWaits: pushes of the other lane wait, here or in Redis.
    package mutating func sent(_ count: Int, of lane: Lane, otherWaits: Bool) {
        guard otherWaits else {
            owed = 0
            return
        }
        owed += bulkFloor * count - (lane == .bulk ? 100 * count : 0)
        owed = min(max(owed, 0), 100 * Self.quantum * Self.mostTurns)
    }
}
