import DequeModule
import FarmPolicy
import PushModel

/// The sendable batches by lane. Lane `high` precedes lane `bulk`, but `bulk` gets a minimum share of the pushes. In a lane,
/// older batches precede younger batches.
struct LaneQueues {
    private var waiting: [Deque<HeldBatch>] = [[], []]
    /// The number of batches that each lane has skipped in this turn.
    private var passed = [0, 0]
    /// Divides the pushes between the lanes: `high` precedes `bulk`, and `bulk` gets a minimum share.
    var share = LaneShare()

    mutating func setBulkFloor(_ floor: Int) {
        if floor != share.bulkFloor { share = LaneShare(bulkFloor: floor) }
    }

    func hasWaiting(_ lane: Lane) -> Bool { !waiting[Int(lane.rawValue)].isEmpty }

    func count(_ lane: Lane) -> Int { waiting[Int(lane.rawValue)].count }

    /// The batches of both lanes.
    var batches: some Sequence<HeldBatch> { waiting.joined() }

    /// An upper bound of the number of pushes that may be sent now.
    var sendable: Int { batches.reduce(0) { $0 + ($1.maySend ? $1.sendable : 0) } }

    /// Inserts a batch into its lane by age, unless the lane already contains it.
    mutating func insert(_ batch: HeldBatch) {
        let lane = Int(batch.lane.rawValue)
        let index = waiting[lane].firstIndex { $0.number >= batch.number } ?? waiting[lane].endIndex
        if index == waiting[lane].endIndex || waiting[lane][index] !== batch {
            waiting[lane].insert(batch, at: index)
        }
    }

    mutating func removeAll() { waiting = [[], []] }

    /// Returns the next batch of a lane.
    mutating func first(of lane: Lane) -> HeldBatch? {
        let lane = Int(lane.rawValue)
        while passed[lane] < waiting[lane].count {
            let first = waiting[lane][passed[lane]]
            if !first.isReleased, first.hasNext, !first.isSuspect { return first }
            waiting[lane].remove(at: passed[lane])
        }
        return nil
    }

    /// Begins a new turn, in which batches skipped in the last turn are eligible again.
    mutating func beginTurn() { passed = [0, 0] }

    /// Skips a batch for the rest of the turn. The batch cannot be sent now, but other batches of its lane may be sendable.
    mutating func pass(_ batch: HeldBatch) { passed[Int(batch.lane.rawValue)] += 1 }

    var hasPassed: Bool { passed[0] + passed[1] > 0 }
}
