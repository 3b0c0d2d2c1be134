import FarmPolicy
package import PushModel

/// Chooses the next batch to send, and limits the credit of each lane.
extension DeliveryWindow {
    /// Begins a new turn, in which batches skipped in the last turn are eligible again.
    package func beginTurn() { queues.beginTurn() }

    /// Skips a batch for the rest of the turn. The batch cannot be sent now, but other batches of its lane may be sendable.
    package func pass(_ batch: HeldBatch) { queues.pass(batch) }

    package var hasPassedBatches: Bool { queues.hasPassed }

    /// An upper bound of the number of pushes that may be sent now.
    package var sendable: Int { queues.sendable }

    /// Returns the number of sendable batches of a lane.
    package func waitingBatches(of lane: Lane) -> Int { queues.count(lane) }

    /// - Parameter floor: the minimum percentage of bulk pushes while high pushes are queued too.
    package func setBulkFloor(_ floor: Int) { queues.setBulkFloor(floor) }

    /// Returns the next batch and how many of its positions may be sent now. When the caller has sent pushes, the caller calls
    /// ``sent(_:of:)`` and then this function again.
    ///
    /// - Parameters:
    ///   - hasExclusiveTurn: whether only pushes of ``suspect`` are in flight or have credit on this worker.
    ///   - isBulkFull: whether no connection has room for bulk pushes.
    package func nextBatch(hasExclusiveTurn: Bool, isBulkFull: Bool = false) -> (
        batch: HeldBatch, atMost: Int
    )? {
        guard mode == .sending else { return nil }
        let (high, bulk) = (queues.first(of: .high), isBulkFull ? nil : queues.first(of: .bulk))
        if let turn = queues.share.next(highWaits: high != nil, bulkWaits: bulk != nil) {
            return (turn.lane == .high ? high : bulk).map { ($0, turn.atMost) }
        }
        guard hasExclusiveTurn, let suspect else { return nil }
        if suspect.hasNext { return (suspect, .max) }
        if !suspect.isReporting, !suspect.isDirty { report(suspect) }
        return nil
    }

    /// Notes that a number of positions of a batch were sent.
    package func sent(_ count: Int, of batch: HeldBatch) {
        queues.share.sent(
            count, of: batch.lane, otherWaits: batch.lane == .high ? bulkWaits : queues.hasWaiting(.high))
    }

    /// Counts the pushes that could be sent over a new connection. The count stops at `most`.
    package func waitingForConnection(atMost most: Int) -> Int {
        guard mode == .sending else { return 0 }
        var sum = 0
        for batch in queues.batches where !batch.isReleased && !batch.isSuspect && batch.hasNext {
            switch batch.route.connectionChoice(for: batch.number) {
            case .none: continue
            case .following: guard batch.route.free(batch) else { continue }
            case .any: break
            }
            sum += batch.sendable
            if sum >= most { return most }
        }
        return sum
    }

    /// More pushes than all connections together have room for, so that a count of unsent pushes may stop at this number.
    package static let mostWaiting = 1 << 20

    /// The next suspect batch, which must be sent with no other push in flight.
    package var suspect: HeldBatch? { mode == .sending ? suspects.first() : nil }

    /// Whether pushes of any suspect batch are in flight, even of a batch with no more pushes to send.
    package var hasSuspectInFlight: Bool { suspects.hasInFlight() }

    /// Whether, among the app's batches, only the suspect batch has pushes in flight or credit.
    package var isClearForSuspect: Bool { creditInUse == (suspect.map { $0.creditInUse + $0.asked } ?? 0) }

    /// Whether bulk pushes may be queued in the window or in Redis.
    private var bulkWaits: Bool {
        queues.hasWaiting(.bulk) || shards.mayHaveBulk || credit.mayLackCredit(.bulk)
    }

    /// Whether lane high has used its share, so that lane bulk comes next.
    var isBulkDue: Bool { queues.share.isBulkDue && bulkWaits }

    /// Returns how many positions may be granted to a lane.
    func room(for lane: Lane) -> Int { credit.room(for: lane, isBulkDue: isBulkDue) }

    /// Requests more credit for the batches of a lane that lack credit.
    ///
    /// - Returns: whether a batch of the lane lacks credit.
    func askForCredit(of lane: Lane) -> Bool {
        let batches = credit.batches(of: lane)
        for batch in batches { report(batch) }
        return !batches.isEmpty
    }
}
