import PushModel
package import StoreProtocol

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
