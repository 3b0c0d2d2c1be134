import FarmPolicy
package import PushModel

/// Whose turn it is, and how much credit a lane may have.
extension Window {
    /// A new turn begins: batches that were passed over in the last one have their turn again.
    package func beginTurn() { queues.beginTurn() }

    /// The batch cannot be sent now, though others of its lane can: it is passed over for the rest of the turn.
    package func pass(_ batch: HeldBatch) { queues.pass(batch) }

    package var hasPassedBatches: Bool { queues.hasPassed }

    /// Pushes that may be sent, at most.
    package var sendable: Int { queues.sendable }

    /// Batches of a lane that may be sent.
    package func waitingBatches(of lane: Lane) -> Int { queues.count(lane) }

    /// - Parameter floor: percent of the pushes that are bulk while high waits, too.
    package func setBulkFloor(_ floor: Int) { queues.setBulkFloor(floor) }

    /// The batch whose turn it is, and how many of its next positions may be sent before this is asked again, and
    /// ``sent(_:of:)`` called.
    ///
    /// - Parameters:
    ///   - isAlone: nothing of the worker is in flight or has credit, but for ``suspect``.
    ///   - isBulkFull: no connection has room for bulk.
    package func nextBatch(isAlone: Bool, isBulkFull: Bool = false) -> (batch: HeldBatch, atMost: Int)? {
        guard mode == .sending else { return nil }
        let (high, bulk) = (queues.first(of: .high), isBulkFull ? nil : queues.first(of: .bulk))
        if let turn = queues.share.next(highWaits: high != nil, bulkWaits: bulk != nil) {
            return (turn.lane == .high ? high : bulk).map { ($0, turn.atMost) }
        }
        guard isAlone, let suspect else { return nil }
        if suspect.hasNext { return (suspect, .max) }
        if !suspect.isReporting, !suspect.isDirty { report(suspect) }
        return nil
    }

    /// So many positions of a batch have left.
    package func sent(_ count: Int, of batch: HeldBatch) {
        queues.share.sent(
            count, of: batch.lane, otherWaits: batch.lane == .high ? bulkWaits : queues.hasWaiting(.high))
    }

    /// Pushes that may be sent over a connection that is not made yet; not counted beyond `most`.
    package func waitingForConnection(atMost most: Int) -> Int {
        guard mode == .sending else { return 0 }
        var sum = 0
        for batch in queues.batches where !batch.isReleased && !batch.isSuspect && batch.hasNext {
            switch batch.route.way(of: batch.number) {
            case .none: continue
            case .following: guard batch.route.free(batch) else { continue }
            case .any: break
            }
            sum += batch.sendable
            if sum >= most { return most }
        }
        return sum
    }

    /// More pushes than all connections together take: a count of those that wait may stop there.
    package static let mostWaiting = 1 << 20

    /// The batch that is to be sent next with nothing else in flight, if there is one.
    package var suspect: HeldBatch? { mode == .sending ? suspects.first() : nil }

    /// Pushes of a suspect batch are in flight, whether more of it may be sent or not.
    package var hasSuspectInFlight: Bool { suspects.hasInFlight() }

    /// Nothing of the app is in flight or has credit, but for the suspect batch.
    package var isClearForSuspect: Bool { exposure == (suspect.map { $0.exposure + $0.asked } ?? 0) }

    /// Bulk is to be sent, held or maybe in Redis.
    private var bulkWaits: Bool {
        queues.hasWaiting(.bulk) || shards.mayHaveBulk || credit.mayHave(.bulk)
    }

    /// High has had so much that it is bulk's turn.
    var isBulkDue: Bool { queues.share.isBulkDue && bulkWaits }

    /// What may be granted to a lane.
    func room(for lane: Lane) -> Int { credit.room(for: lane, isBulkDue: isBulkDue) }

    /// Asks for more credit for the batches of a lane that are not granted to their end.
    ///
    /// - Returns: whether there are such batches.
    func askForCredit(of lane: Lane) -> Bool {
        let batches = credit.batches(of: lane)
        for batch in batches { report(batch) }
        return !batches.isEmpty
    }
}
