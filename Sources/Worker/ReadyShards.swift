import FarmStore

/// The shards of an app that this worker serves, those that were withdrawn and are not yet empty, and which of them may
/// have batches.
final class ReadyShards {
    private(set) var tokens: [Int: FenceToken] = [:]
    /// Withdrawn shards of which something is still in hand, with the tokens they had.
    private(set) var leaving: [Int: FenceToken] = [:]
    private var rung: Set<Int> = []
    /// Where the next checkout begins, so that every shard has its turn.
    private var turn = 0

    /// From now on these are served; the others are withdrawn.
    func assign(_ tokens: [Int: FenceToken]) {
        for (shard, token) in self.tokens where tokens[shard] == nil { leaving[shard] = token }
        for shard in tokens.keys { leaving[shard] = nil }
        self.tokens = tokens
        ringAll()
    }

    /// The shard's token, whether it is served or leaving.
    func token(of shard: Int) -> FenceToken? { tokens[shard] ?? leaving[shard] }

    /// Nothing of a withdrawn shard is in hand any more.
    func released(_ shard: Int) { leaving[shard] = nil }

    func ring(_ shards: some Sequence<Int>) {
        for shard in shards where tokens[shard] != nil { rung.insert(shard) }
    }

    func ringAll() { rung = Set(tokens.keys) }

    var isQuiet: Bool { rung.isEmpty }

    /// Some shards that may have batches, the longest waiting first; they are quiet until rung again.
    func take(atMost count: Int) -> [(number: Int, token: FenceToken)] {
        let order = rung.sorted()
        let start = order.firstIndex { $0 >= turn } ?? 0
        let chosen = (0..<min(count, order.count)).map { order[(start + $0) % order.count] }
        for shard in chosen { rung.remove(shard) }
        turn = (chosen.last ?? -1) + 1
        return chosen.compactMap { shard in tokens[shard].map { (shard, $0) } }
    }
}
