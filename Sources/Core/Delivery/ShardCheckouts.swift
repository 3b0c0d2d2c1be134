import PushModel
package import StoreProtocol

/// Chooses the shards to check out: shards that may have batches, and unconfirmed shards. A shard is unconfirmed while Redis may
/// have assigned batches of the shard to this worker that the worker does not hold.
///
/// Only one checkout is in progress at a time.
struct ShardCheckouts {
    let shards = CheckoutShards()
    private let creditTotal: CreditTotal
    /// Shards with batches that Redis may have assigned to this worker and that the worker does not hold.
    private(set) var unconfirmed: Set<Int> = []
    private var pending: Checkout?

    /// Maximum number of shards per call, which limits how long the script blocks Redis.
    private static let shardsPerCall = 16
    /// Maximum number of batches per call, which limits how long the script blocks Redis.
    private static let batchesPerCall = 8

    init(_ creditTotal: CreditTotal) { self.creditTotal = creditTotal }

    var isPending: Bool { pending != nil }
    /// The credit that the checkout in progress requests.
    var credit: Int { pending?.credit ?? 0 }
    /// Whether no shard of this worker is in ``unconfirmed``.
    var isConfirmed: Bool { !unconfirmed.contains { shards.token(of: $0) != nil } }

    // MARK: Shards

    /// Sets the served shards and withdraws all other shards.
    mutating func assign(_ tokens: [Int: FenceToken]) {
        // This worker may have served the shard before and may have released batches that, in Redis, still belong to this worker.
        for (shard, token) in tokens where shards.token(of: shard) != token { unconfirmed.insert(shard) }
        shards.assign(tokens)
    }

    /// Schedules a search of the shard for batches that Redis assigns to this worker and that the worker does not hold.
    mutating func search(_ shard: Int) { unconfirmed.insert(shard) }

    /// Schedules a search of all served shards, because Redis may still execute a call that got no reply.
    mutating func searchServed() { unconfirmed.formUnion(shards.tokens.keys) }

    mutating func searchAll() { unconfirmed = Set(shards.tokens.keys).union(shards.leaving.keys) }

    /// Removes and returns the withdrawn shards without held batches.
    ///
    /// - Parameter held: the shards of held batches.
    mutating func takeEmpty(held: Set<Int>) -> [Int] {
        var busy = held.union(unconfirmed)
        if let pending { busy.formUnion(pending.shards.map(\.number)) }
        let empty = shards.leaving.keys.filter { !busy.contains($0) }.sorted()
        for shard in empty { shards.released(shard) }
        return empty
    }

    // MARK: Calls

    /// Creates a checkout for the given lanes; nil when no shard may have batches in these lanes.
    mutating func checkout(_ lanes: Checkout.Lanes, credit: Int, worker: String) -> Checkout? {
        guard !shards.hasNoPending(lanes) else { return nil }
        var request = Checkout(
            worker: worker, credit: credit, maxBatches: Self.batchesPerCall,
            shards: shards.take(atMost: Self.shardsPerCall, lanes))
        request.lanes = lanes
        return begin(request)
    }

    /// Creates a search for batches that Redis assigns to this worker and that the worker does not hold; nil when no shard must
    /// be searched. The search requests no credit, because the credit of found batches is unknown until Redis replies.
    ///
    /// - Parameter known: the batches that the worker holds.
    mutating func search(known: @autoclosure () -> [BatchID], worker: String) -> Checkout? {
        guard !unconfirmed.isEmpty else { return nil }
        let asked = unconfirmed.sorted().compactMap { shard in shards.token(of: shard).map { (shard, $0) } }
        guard !asked.isEmpty else { return nil }
        return begin(
            Checkout(
                worker: worker, credit: 0, maxBatches: Self.batchesPerCall, known: known(),
                shards: Array(asked.prefix(Self.shardsPerCall))))
    }

    private mutating func begin(_ request: Checkout) -> Checkout {
        pending = request
        creditTotal.sum += request.credit
        return request
    }

    /// Handles the reply to a checkout, or its failure.
    mutating func checkedOut(_ request: Checkout, _ result: Result<Checkout.Reply, StoreError>) {
        creditTotal.sum -= credit
        pending = nil
        let asked = request.shards.map(\.number)
        switch result {
        case .failure:
            unconfirmed.formUnion(asked)
            shards.mayHaveBatches(asked)
        case .success(let reply):
            noteReadyShards(from: reply, of: request.lanes)
            if request.known != nil {
                unconfirmed.subtract(asked)
                shards.mayHaveBatches(asked)
            }
        }
    }

    /// Notes from a reply which shards still have batches in Redis.
    private func noteReadyShards(from reply: Checkout.Reply, of lanes: Checkout.Lanes) {
        switch lanes {
        case .highOnly: shards.mayHaveBatches(reply.nonEmptyShards, of: .high)
        case .bulkOnly: shards.mayHaveBatches(reply.nonEmptyShards, of: .bulk)
        // The reply contains bulk batches, so Redis has already returned all batches of lane high.
        case .highFirst where reply.batches.contains { $0.id.lane == .bulk }:
            shards.mayHaveBatches(reply.nonEmptyShards, of: .bulk)
        case .highFirst: shards.mayHaveBatches(reply.nonEmptyShards)
        }
    }
}

/// The shards of an app that this worker serves, and withdrawn shards that still have batches. Tracks which served shards may
/// have batches in Redis.
package final class CheckoutShards {
    package private(set) var tokens: [Int: FenceToken] = [:]
    /// Withdrawn shards that still have held batches, with their fencing tokens.
    private(set) var leaving: [Int: FenceToken] = [:]
    private var pending = PerLane(high: Set<Int>(), bulk: Set<Int>())
    /// For each choice of lanes, the shard number where the next checkout begins, so that all shards take turns.
    private var turns: [Checkout.Lanes: Int] = [:]

    private struct PerLane {
        var high: Set<Int>
        var bulk: Set<Int>
    }

    /// Sets the served shards and withdraws all other shards.
    func assign(_ tokens: [Int: FenceToken]) {
        for (shard, token) in self.tokens where tokens[shard] == nil { leaving[shard] = token }
        for shard in tokens.keys { leaving[shard] = nil }
        self.tokens = tokens
        allMayHaveBatches()
    }

    /// Returns the fencing token of a served or withdrawn shard.
    package func token(of shard: Int) -> FenceToken? { tokens[shard] ?? leaving[shard] }

    /// Removes a withdrawn shard that has no held batches.
    func released(_ shard: Int) { leaving[shard] = nil }

    /// Notes that the shards may have batches in both lanes.
    package func mayHaveBatches(_ shards: some Sequence<Int>) { mayHaveBatches(shards, of: nil) }

    /// Notes that the shards may have batches in a lane; nil means both lanes.
    func mayHaveBatches(_ shards: some Sequence<Int>, of lane: Lane?) {
        for shard in shards where tokens[shard] != nil {
            if lane != .bulk { pending.high.insert(shard) }
            if lane != .high { pending.bulk.insert(shard) }
        }
    }

    package func allMayHaveBatches() { pending = PerLane(high: Set(tokens.keys), bulk: Set(tokens.keys)) }

    var mayHaveBulk: Bool { !pending.bulk.isEmpty }

    func hasNoPending(_ lanes: Checkout.Lanes = .highFirst) -> Bool {
        (!lanes.hasHigh || pending.high.isEmpty) && (!lanes.hasBulk || pending.bulk.isEmpty)
    }

    /// Returns up to `count` shards that may have batches; all shards take turns. Later calls for the same lanes skip a returned
    /// shard until ``mayHaveBatches(_:)`` names the shard again.
    func take(atMost count: Int, _ lanes: Checkout.Lanes = .highFirst) -> [(number: Int, token: FenceToken)] {
        let order = (lanes.hasHigh ? pending.high : []).union(lanes.hasBulk ? pending.bulk : []).sorted()
        let start = order.firstIndex { $0 >= turns[lanes] ?? 0 } ?? 0
        let chosen = (0..<min(count, order.count)).map { order[(start + $0) % order.count] }
        for shard in chosen {
            if lanes.hasHigh { pending.high.remove(shard) }
            if lanes.hasBulk { pending.bulk.remove(shard) }
        }
        turns[lanes] = (chosen.last ?? -1) + 1
        return chosen.compactMap { shard in tokens[shard].map { (shard, $0) } }
    }
}
