import EventLoop
import FarmStore

/// The shards of an app that this worker serves, and which of them may have batches.
@Loop final class ReadyShards {
    private(set) var tokens: [Int: FenceToken] = [:]
    private var rung: Set<Int> = []
    /// Where the next checkout begins, so that every shard has its turn.
    private var turn = 0

    func assign(_ tokens: [Int: FenceToken]) {
        self.tokens = tokens
        ringAll()
    }

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
