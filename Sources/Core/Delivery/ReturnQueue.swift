import PushModel

/// Batches that go back to Redis: each to the head of its list, the newest first, and none before those that came after it.
struct ReturnQueue {
    enum Step {
        /// Something is to be reported before the batch can go back.
        case report(HeldBatch)
        case putBack(HeldBatch)
    }

    /// Batches wait to be given back.
    var isDue = false
    /// Redis may have been asked to take a batch back, and not have answered.
    private var mayBeGoingBack = false

    /// Redis is asked to take a batch back.
    mutating func began() { mayBeGoingBack = true }

    /// The next step of each batch that leaves and has nothing in flight.
    mutating func takeSteps(of leaving: [HeldBatch]) -> [Step] {
        isDue = false
        var steps: [Step] = []
        var blocked: Set<Int> = []
        for batch in leaving.sorted(by: { $0.number > $1.number }) {
            let list = batch.shard << 1 | Int(batch.lane.rawValue)
            let isIdle = batch.inFlight == 0 && !batch.isReporting
            if isIdle, batch.unreported > 0 || batch.mustCompare {
                steps.append(.report(batch))
            } else if isIdle, !blocked.contains(list) {
                steps.append(.putBack(batch))
                continue
            }
            blocked.insert(list)
        }
        return steps
    }

    /// Older batches of its list are going back: a younger one must not be sent before them, so it goes back, too.
    mutating func isAhead(of batch: HeldBatch, among held: HeldBatches) -> Bool {
        guard mayBeGoingBack else { return false }
        let returns = held.values.filter { $0.standing == .goingBack }
        mayBeGoingBack = !returns.isEmpty
        return returns.contains {
            $0.number < batch.number && $0.shard == batch.shard && $0.lane == batch.lane
        }
    }
}
