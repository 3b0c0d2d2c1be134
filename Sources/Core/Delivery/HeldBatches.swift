import PushModel
import StoreProtocol

/// The batches that this worker holds of one app.
struct HeldBatches {
    private var batches: [UInt32: HeldBatch] = [:]
    private var numbers: [BatchID: UInt32] = [:]
    /// By shard and lane of held batches.
    private var routes: [Int: ShardRoute] = [:]
    private var lastNumber: UInt32 = 0

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
        let list = Self.list(id.shard, id.lane ?? .high)
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
        if batch.route.batches == 0 { routes[Self.list(batch.shard, batch.lane)] = nil }
        return true
    }

    mutating func drop(_ number: UInt32) -> Bool { batches.removeValue(forKey: number) != nil }

    mutating func forgetID(_ id: BatchID) { numbers[id] = nil }

    private static func list(_ shard: Int, _ lane: Lane) -> Int { shard << 1 | Int(lane.rawValue) }
}
