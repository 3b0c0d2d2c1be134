import FarmPolicy
import PushModel

/// The batches that lack send credit for some of their positions, and the limits of that credit.
struct CreditQueue {
    private var batches: [HeldBatch] = []
    private let creditTotal: CreditTotal
    /// Maximum number of positions that may be granted and unreported.
    var limit = 512

    /// When bulk is due, lane high leaves up to this number of positions free for lane bulk. Bulk may take these positions even
    /// from the ``reserve``.
    static let mostDue = 64

    init(_ creditTotal: CreditTotal) { self.creditTotal = creditTotal }

    /// The part of the limit that lane bulk leaves free for lane high, so that an urgent push does not wait for a campaign's
    /// credit.
    var reserve: Int { limit / 8 }

    /// Computes how many positions may be granted to a lane.
    ///
    /// - Parameter isBulkDue: whether lane high has used its share, so that lane bulk comes next.
    func room(for lane: Lane, isBulkDue: Bool) -> Int {
        let free = limit - creditTotal.sum
        let due = isBulkDue ? min(Self.mostDue, reserve) : 0
        return lane == .high ? free - due : max(free - reserve, min(free, due))
    }

    /// Adds a batch unless all its positions are granted.
    mutating func add(_ batch: HeldBatch) {
        guard batch.granted < batch.count, !batches.contains(where: { $0 === batch }) else { return }
        batches.append(batch)
    }

    /// Whether a batch of the lane may lack credit. The list may still contain batches that have received their full credit.
    func mayLackCredit(_ lane: Lane) -> Bool { batches.contains { $0.lane == lane } }

    /// Returns the batches of a lane that need more credit.
    mutating func batches(of lane: Lane) -> [HeldBatch] {
        guard !batches.isEmpty else { return [] }
        batches.removeAll { $0.granted >= $0.count || $0.isReleased || $0.ownership != .ours }
        return batches.filter { $0.lane == lane && $0.maySend && !$0.isSuspect }
    }
}

/// The sum of ``HeldBatch/creditInUse`` over all held batches of a window, plus the credit that the window has requested.
///
/// Each change of credit updates the sum. To add up hundreds of batches for every report would be slow.
final class CreditTotal {
    var sum = 0
}
