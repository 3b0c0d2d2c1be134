import FarmPolicy
import PushModel

/// The batches that are not granted to their end, and how much credit there is for them.
struct CreditQueue {
    private var batches: [HeldBatch] = []
    private let tally: ExposureTally
    /// The most that may be granted and unreported.
    var limit = 512

    /// What high leaves to bulk, and bulk may have of the reserve, when bulk is due.
    static let mostDue = 64

    init(_ tally: ExposureTally) { self.tally = tally }

    /// A part of the limit that bulk leaves to high, so that a push of high priority does not wait for the credit of a campaign.
    var reserve: Int { limit / 8 }

    /// What may be granted to a lane.
    ///
    /// - Parameter isBulkDue: high has had so much that it is bulk's turn.
    func room(for lane: Lane, isBulkDue: Bool) -> Int {
        let free = limit - tally.sum
        let due = isBulkDue ? min(Self.mostDue, reserve) : 0
        return lane == .high ? free - due : max(free - reserve, min(free, due))
    }

    /// Adds a batch, if it is not granted to its end.
    mutating func add(_ batch: HeldBatch) {
        guard batch.granted < batch.count, !batches.contains(where: { $0 === batch }) else { return }
        batches.append(batch)
    }

    /// A held batch of the lane was not granted to its end when that was looked at last.
    func mayHave(_ lane: Lane) -> Bool { batches.contains { $0.lane == lane } }

    /// The batches of a lane that more credit is to be asked for.
    mutating func batches(of lane: Lane) -> [HeldBatch] {
        guard !batches.isEmpty else { return [] }
        batches.removeAll { $0.granted >= $0.count || $0.isReleased || $0.ownership != .ours }
        return batches.filter { $0.lane == lane && $0.maySend && !$0.isSuspect }
    }
}

/// The exposure of all batches that a window holds, with the credit that is being asked for.
///
/// Kept, not summed up: there may be hundreds of batches, and every report asks.
final class ExposureTally {
    var sum = 0
}
