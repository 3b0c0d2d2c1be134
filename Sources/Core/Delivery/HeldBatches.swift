import PushModel
import StoreProtocol

/// The batches that this worker holds of one app.
struct HeldBatches {
    private var batches: [UInt32: HeldBatch] = [:]
    private var numbers: [BatchID: UInt32] = [:]
    /// The routes of held batches by shard and lane.
    private var routes: [Int: ShardRoute] = [:]
    private var lastNumber: UInt32 = 0
    /// Whether a call that returns a batch to Redis may still await its reply.
    private var mayHaveReturns = false

    var isEmpty: Bool { batches.isEmpty }
    var count: Int { batches.count }
    /// The held batches in arbitrary order.
    var values: Dictionary<UInt32, HeldBatch>.Values { batches.values }

    subscript(number: UInt32) -> HeldBatch? { batches[number] }

    subscript(id: BatchID) -> HeldBatch? { numbers[id].flatMap { batches[$0] } }

    /// Returns the next batch number. Numbers ascend in the order of checkouts.
    mutating func nextNumber() -> UInt32 {
        lastNumber &+= 1
        return lastNumber
    }

    /// Returns the route that batches of the same shard and lane share.
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
        batch.removeFromCreditTotal()
        batch.removeFromRoute()
        if batch.route.batches == 0 { routes[batch.list] = nil }
        return true
    }

    /// Notes that Redis was asked to take a batch back.
    mutating func returnBegan() { mayHaveReturns = true }

    /// Whether older batches of the same shard and lane are being returned to Redis. If so, `batch` must be returned too, to keep
    /// the order.
    mutating func isBehindReturn(_ batch: HeldBatch) -> Bool {
        guard mayHaveReturns else { return false }
        let returns = values.filter { $0.ownership == .returning }
        mayHaveReturns = !returns.isEmpty
        return returns.contains { $0.number < batch.number && $0.list == batch.list }
    }

    mutating func drop(_ number: UInt32) -> Bool { batches.removeValue(forKey: number) != nil }

    mutating func forgetID(_ id: BatchID) { numbers[id] = nil }
}

extension BatchID {
    /// A number that is equal for all batches of one shard and lane.
    fileprivate var list: Int { shard << 1 | Int((lane ?? .high).rawValue) }
}

extension HeldBatch {
    /// A number that is equal for all batches of one shard and lane.
    var list: Int { id.list }
}
