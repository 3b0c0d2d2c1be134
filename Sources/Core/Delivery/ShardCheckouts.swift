import PushModel
package import StoreProtocol

/// Which shards are asked for batches: those that may have some, and those in which Redis may assign batches to this worker that it
/// does not hold.
///
/// One checkout is under way at a time.
struct ShardCheckouts {
    let shards = ReadyShards()
    private let tally: ExposureTally
    /// Shards in which Redis may assign batches to this worker that it does not hold.
    private(set) var unconfirmed: Set<Int> = []
    private var pending: Checkout?

    /// Shards asked in one call, and batches taken at most: what keeps the script short.
    private static let shardsPerCall = 16
    private static let batchesPerCall = 8

    init(_ tally: ExposureTally) { self.tally = tally }

    var isPending: Bool { pending != nil }
    /// The credit that the checkout under way brings.
    var credit: Int { pending?.credit ?? 0 }
    /// There is nothing to find in the shards of this worker.
    var isConfirmed: Bool { !unconfirmed.contains { shards.token(of: $0) != nil } }

    // MARK: Shards

    /// These shards are served from now on; the others are withdrawn.
    mutating func assign(_ tokens: [Int: FenceToken]) {
        // Redis may still assign batches of a shard that comes back to this worker, though it has released them.
        for (shard, token) in tokens where shards.token(of: shard) != token { unconfirmed.insert(shard) }
        shards.assign(tokens)
    }

    /// Redis may assign batches of the shard to this worker that it does not hold.
    mutating func search(_ shard: Int) { unconfirmed.insert(shard) }

    /// A call that had no answer may have been carried out late, after the last search.
    mutating func searchServed() { unconfirmed.formUnion(shards.tokens.keys) }

    mutating func searchAll() { unconfirmed = Set(shards.tokens.keys).union(shards.leaving.keys) }

    /// Takes the withdrawn shards that have no held batches any more.
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

    /// Asks for batches of these lanes; nil when no shard may have any.
    mutating func checkout(_ lanes: Checkout.Lanes, credit: Int, worker: String) -> Checkout? {
        guard !shards.isQuiet(lanes) else { return nil }
        var request = Checkout(
            worker: worker, credit: credit, maxBatches: Self.batchesPerCall,
            shards: shards.take(atMost: Self.shardsPerCall, lanes))
        request.lanes = lanes
        return begin(request)
    }

    /// Asks for batches that Redis assigns to this worker and that it does not hold; nil when there is no shard to search. It brings no
    /// credit: what they have been granted is unknown until Redis replies.
    ///
    /// - Parameter known: the batches that we hold.
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
        tally.sum += request.credit
        return request
    }

    /// Redis has answered the checkout, or has not.
    mutating func answered(_ request: Checkout, _ result: Result<Checkout.Reply, StoreError>) {
        tally.sum -= credit
        pending = nil
        let asked = request.shards.map(\.number)
        switch result {
        case .failure:
            unconfirmed.formUnion(asked)
            shards.mayHaveBatches(asked)
        case .success(let reply):
            learn(reply, of: request.lanes)
            if request.known != nil {
                unconfirmed.subtract(asked)
                shards.mayHaveBatches(asked)
            }
        }
    }

    /// What a reply says about the batches that are still in Redis.
    private func learn(_ reply: Checkout.Reply, of lanes: Checkout.Lanes) {
        switch lanes {
        case .highOnly: shards.mayHaveBatches(reply.left, of: .high)
        case .bulkOnly: shards.mayHaveBatches(reply.left, of: .bulk)
        // The second lane was come to after the last of the first.
        case .highFirst where reply.batches.contains { $0.id.lane == .bulk }:
            shards.mayHaveBatches(reply.left, of: .bulk)
        case .highFirst: shards.mayHaveBatches(reply.left)
        }
    }
}

/// The shards of an app that this worker serves, those that were withdrawn and are not yet empty, and which of them may
/// have batches.
package final class ReadyShards {
    package private(set) var tokens: [Int: FenceToken] = [:]
    /// Withdrawn shards with batches that are still held, and the tokens they had.
    private(set) var leaving: [Int: FenceToken] = [:]
    private var pending = PerLane(high: Set<Int>(), bulk: Set<Int>())
    /// Where the next checkout of these lanes begins, so that every shard has its turn.
    private var turns: [Checkout.Lanes: Int] = [:]

    private struct PerLane {
        var high: Set<Int>
        var bulk: Set<Int>
    }

    /// From now on these are served; the others are withdrawn.
    func assign(_ tokens: [Int: FenceToken]) {
        for (shard, token) in self.tokens where tokens[shard] == nil { leaving[shard] = token }
        for shard in tokens.keys { leaving[shard] = nil }
        self.tokens = tokens
        allMayHaveBatches()
    }

    /// The shard's token, whether it is served or leaving.
    package func token(of shard: Int) -> FenceToken? { tokens[shard] ?? leaving[shard] }

    /// Nothing of a withdrawn shard is held any more.
    func released(_ shard: Int) { leaving[shard] = nil }

    /// There may be batches in the shards.
    package func mayHaveBatches(_ shards: some Sequence<Int>) { mayHaveBatches(shards, of: nil) }

    /// There may be batches in the shards, of one lane if it is named.
    func mayHaveBatches(_ shards: some Sequence<Int>, of lane: Lane?) {
        for shard in shards where tokens[shard] != nil {
            if lane != .bulk { pending.high.insert(shard) }
            if lane != .high { pending.bulk.insert(shard) }
        }
    }

    package func allMayHaveBatches() { pending = PerLane(high: Set(tokens.keys), bulk: Set(tokens.keys)) }

    var mayHaveBulk: Bool { !pending.bulk.isEmpty }

    func isQuiet(_ lanes: Checkout.Lanes = .highFirst) -> Bool {
        (!lanes.hasHigh || pending.high.isEmpty) && (!lanes.hasBulk || pending.bulk.isEmpty)
    }

    /// Some shards that may have batches, the longest waiting first; in these lanes they are quiet until rung again.
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
