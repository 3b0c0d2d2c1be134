import FarmPolicy
import PushModel

/// Whose turn it is: high before bulk, which keeps its floor, and older batches before younger ones.
extension Window {
    /// The batch whose turn it is, and how many of its next positions may be sent before this is asked again, and
    /// ``sent(_:of:)`` told.
    ///
    /// - Parameters:
    ///   - isAlone: nothing of the worker is in the air or has credit, but for ``careful``.
    ///   - isBulkFull: no connection has room for bulk.
    func nextBatch(isAlone: Bool, isBulkFull: Bool = false) -> (batch: HeldBatch, atMost: Int)? {
        guard mode == .sending else { return nil }
        let (high, bulk) = (first(of: .high), isBulkFull ? nil : first(of: .bulk))
        if let turn = share.next(highWaits: high != nil, bulkWaits: bulk != nil) {
            return (turn.lane == .high ? high : bulk).map { ($0, turn.atMost) }
        }
        guard isAlone, let careful else { return nil }
        if careful.hasNext { return (careful, .max) }
        if !careful.isReporting, !careful.isDirty { report(careful) }
        return nil
    }

    /// So many positions of a batch have left.
    func sent(_ count: Int, of batch: HeldBatch) {
        share.sent(count, of: batch.lane, otherWaits: batch.lane == .high ? bulkWaits : hasWaiting(.high))
    }

    /// A new turn begins: what was passed over in the last one is looked at again.
    func beginTurn() { passed = [0, 0] }

    /// The batch cannot be sent now, though others of its lane can: it is passed over for the rest of the turn.
    func pass(_ batch: HeldBatch) { passed[Int(batch.lane.rawValue)] += 1 }

    var hasPassed: Bool { passed[0] + passed[1] > 0 }

    /// Pushes in hand that may be sent, at most.
    var sendable: Int { waiting.joined().reduce(0) { $0 + ($1.maySend ? $1.sendable : 0) } }

    /// Pushes in hand that may be sent over a connection that is not made yet; not counted beyond `most`.
    func waitingForConnection(atMost most: Int) -> Int {
        guard mode == .sending else { return 0 }
        var sum = 0
        for batch in waiting.joined() where held[batch.number] === batch && !batch.isCareful && batch.hasNext
        {
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

    private func first(of lane: Lane) -> HeldBatch? {
        let lane = Int(lane.rawValue)
        while passed[lane] < waiting[lane].count {
            let first = waiting[lane][passed[lane]]
            if held[first.number] === first, first.hasNext, !first.isCareful { return first }
            waiting[lane].remove(at: passed[lane])
        }
        return nil
    }

    func hasWaiting(_ lane: Lane) -> Bool { !waiting[Int(lane.rawValue)].isEmpty }

    /// A batch in hand is not granted to its end.
    func hasPartial(_ lane: Lane) -> Bool { partial.contains { $0.lane == lane } }

    /// Bulk is to be sent, in hand or maybe in Redis.
    private var bulkWaits: Bool { hasWaiting(.bulk) || shards.mayHaveBulk || hasPartial(.bulk) }

    /// High has had so much that it is bulk's turn.
    var isBulkDue: Bool { share.isBulkDue && bulkWaits }

    /// A part of the limit that bulk leaves to high, so that a message is not held up by the credit of a campaign.
    var reserve: Int { limit / 8 }
    /// Pushes of which it is worth knowing that they wait for a connection: more than any number of connections takes.
    static let mostWaiting = 1 << 20
    /// What high leaves to bulk, and bulk may have of the reserve, when bulk is due.
    static let mostDue = 64

    /// What may be granted to a lane.
    func room(for lane: Lane) -> Int {
        let free = limit - exposure
        let due = isBulkDue ? min(Self.mostDue, reserve) : 0
        return lane == .high ? free - due : max(free - reserve, min(free, due))
    }

    /// Asks for more credit for the batches of a lane in hand that are not granted to their end.
    ///
    /// - Returns: whether there are such batches.
    func askForCredit(of lane: Lane) -> Bool {
        guard !partial.isEmpty else { return false }
        partial.removeAll { $0.granted >= $0.count || held[$0.number] !== $0 || $0.standing != .ours }
        var hasSome = false
        for batch in partial where batch.lane == lane && batch.maySend && !batch.isCareful {
            hasSome = true
            report(batch)
        }
        return hasSome
    }
}
