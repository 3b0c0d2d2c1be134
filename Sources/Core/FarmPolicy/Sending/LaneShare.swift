package import PushModel

/// Chooses the lane of the next pushes. Lane high precedes lane bulk. While both lanes have pushes, bulk gets a minimum share.
package struct LaneShare: Hashable, Sendable {
    /// The minimum share of bulk, in percent of the pushes.
    package let bulkFloor: Int
    /// Lane `bulk` is due when at least this many bulk pushes may be sent in a row. A smaller number would make batches and
    /// frames small.
    private static let quantum = 16
    /// The maximum debt to bulk, in multiples of ``quantum``. A larger debt is reduced to this maximum.
    private static let mostTurns = 4
    /// The debt to lane `bulk`: how many pushes the lane is below its minimum share, in hundredths of a push.
    private var owed = 0

    package init(bulkFloor: Int = 10) {
        precondition((0...90).contains(bulkFloor), "a floor of \(bulkFloor) percent")
        self.bulkFloor = bulkFloor
    }

    /// Whether lane high has used its share, so that lane bulk comes next.
    package var isBulkDue: Bool { owed >= 100 * Self.quantum }

    /// Returns the next lane and how many of its pushes may be sent before the next call; nil when no lane has
    /// pushes.
    package func next(highWaits: Bool, bulkWaits: Bool) -> (lane: Lane, atMost: Int)? {
        guard highWaits, bulkWaits else { return highWaits ? (.high, .max) : bulkWaits ? (.bulk, .max) : nil }
        if isBulkDue { return (.bulk, owed / 100) }
        guard bulkFloor > 0 else { return (.high, .max) }
        return (.high, (100 * Self.quantum - owed + bulkFloor - 1) / bulkFloor)
    }

    /// Notes that a number of pushes of a lane were sent.
    ///
    /// - Parameter otherWaits: whether the other lane has pushes, in this worker or in Redis.
    package mutating func sent(_ count: Int, of lane: Lane, otherWaits: Bool) {
        guard otherWaits else {
            owed = 0
            return
        }
        owed += bulkFloor * count - (lane == .bulk ? 100 * count : 0)
        owed = min(max(owed, 0), 100 * Self.quantum * Self.mostTurns)
    }
}
