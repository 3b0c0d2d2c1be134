import DequeModule
import FarmPolicy
import PushModel

/// The held batches that may be sent, by lane: high before bulk, which keeps its floor, and older batches before younger ones.
struct LaneQueues {
    private var waiting: [Deque<HeldBatch>] = [[], []]
    /// By lane, how many of them are passed over in this turn.
    private var passed = [0, 0]
    /// High before bulk, but bulk is never starved.
    var share = LaneShare()

    mutating func setBulkFloor(_ floor: Int) {
        if floor != share.bulkFloor { share = LaneShare(bulkFloor: floor) }
    }

    func hasWaiting(_ lane: Lane) -> Bool { !waiting[Int(lane.rawValue)].isEmpty }

    func count(_ lane: Lane) -> Int { waiting[Int(lane.rawValue)].count }

    /// The batches of both lanes.
    var batches: some Sequence<HeldBatch> { waiting.joined() }

    /// Pushes that may be sent, at most.
    var sendable: Int { batches.reduce(0) { $0 + ($1.maySend ? $1.sendable : 0) } }

    /// Puts a batch in its place in its lane, unless it is there already.
    mutating func insert(_ batch: HeldBatch) {
        let lane = Int(batch.lane.rawValue)
        let place = waiting[lane].firstIndex { $0.number >= batch.number } ?? waiting[lane].endIndex
        if place == waiting[lane].endIndex || waiting[lane][place] !== batch {
            waiting[lane].insert(batch, at: place)
        }
    }

    mutating func removeAll() { waiting = [[], []] }

    /// The batch of a lane whose turn it is.
    mutating func first(of lane: Lane) -> HeldBatch? {
        let lane = Int(lane.rawValue)
        while passed[lane] < waiting[lane].count {
            let first = waiting[lane][passed[lane]]
            if !first.isReleased, first.hasNext, !first.isSuspect { return first }
            waiting[lane].remove(at: passed[lane])
        }
        return nil
    }

    /// A new turn begins: batches that were passed over in the last one have their turn again.
    mutating func beginTurn() { passed = [0, 0] }

    /// The batch cannot be sent now, though others of its lane can: it is passed over for the rest of the turn.
    mutating func pass(_ batch: HeldBatch) { passed[Int(batch.lane.rawValue)] += 1 }

    var hasPassed: Bool { passed[0] + passed[1] > 0 }
}
