import PushModel
import StoreProtocol

/// The batches that this worker holds of one app.
struct HeldBatches {
    private var batches: [UInt32: HeldBatch] = [:]
    private var numbers: [BatchID: UInt32] = [:]
    /// By shard and lane of held batches.
    private var routes: [Int: ShardRoute] = [:]
    private var lastNumber: UInt32 = 0
    /// Redis may have been asked to take a batch back, and not have answered.
    private var mayBeGoingBack = false

    var isEmpty: Bool { batches.isEmpty }
    var count: Int { batches.count }
    /// In no order.
    var values: Dictionary<UInt32, HeldBatch>.Values { batches.values }

    subscript(number: UInt32) -> HeldBatch? { batches[number] }

    subscript(id: BatchID) -> HeldBatch? { numbers[id].flatMap { batches[$0] } }

    /// Numbers ascend in the order in which batches are checked out.
    mutating func nextNumber() -> UInt32 {
        lastNumber &+= 1
        return lastNumber
    }

    /// The route that batches of this one's shard and lane share.
    mutating func route(of id: BatchID) -> ShardRoute {
        let list = id.list
        if let route = routes[list] { return route }
        let route = ShardRoute()
        routes[list] = route
        return route
    }

    mutating func add(_ batch: HeldBatch) {
        batches[batch.number] = batch
        numbers[batch.id] = batch.number
    }

    /// - Returns: whether the batch was held.
    mutating func remove(_ batch: HeldBatch) -> Bool {
        guard drop(batch.number) else { return false }
        forgetID(batch.id)
        batch.leaveTally()
        batch.leaveRoute()
        if batch.route.batches == 0 { routes[batch.list] = nil }
        return true
    }

    /// Redis is asked to take a batch back.
    mutating func beganGoingBack() { mayBeGoingBack = true }

    /// Older batches of its list are going back: a younger one must not be sent before them, so it goes back, too.
    mutating func isBehindReturn(_ batch: HeldBatch) -> Bool {
        guard mayBeGoingBack else { return false }
        let returns = values.filter { $0.ownership == .goingBack }
        mayBeGoingBack = !returns.isEmpty
        return returns.contains { $0.number < batch.number && $0.list == batch.list }
    }

    mutating func drop(_ number: UInt32) -> Bool { batches.removeValue(forKey: number) != nil }

    mutating func forgetID(_ id: BatchID) { numbers[id] = nil }
}

extension BatchID {
    /// The same for all batches of one shard and lane.
    fileprivate var list: Int { shard << 1 | Int((lane ?? .high).rawValue) }
}

extension HeldBatch {
    /// The same for all batches of one shard and lane.
    var list: Int { id.list }
}
