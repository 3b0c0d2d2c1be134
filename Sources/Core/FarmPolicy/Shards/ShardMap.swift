/// Which worker serves which shard: even to within one shard, and the same for the same numbers on every
/// host.
///
/// One worker more or fewer moves as few shards as evenness allows.
package struct ShardMap: Hashable, Sendable {
    package let workers: Int
    private let owners: [Int]

    /// Starts with one worker that has all; each further one takes its share from those who have the most.
    package init(shards: Int, workers: Int) {
        precondition(shards >= 0 && workers > 0, "\(shards) shards for \(workers) workers")
        var held = [Array(0..<shards)]
        for worker in 1..<max(workers, 1) {
            var taken: [Int] = []
            for _ in 0..<shards / (worker + 1) {
                var richest = 0
                for other in 1..<worker where held[other].count > held[richest].count { richest = other }
                taken.append(held[richest].removeLast())
            }
            held.append(taken)
        }
        var owners = Array(repeating: 0, count: shards)
        for (worker, shards) in held.enumerated() {
            for shard in shards { owners[shard] = worker }
        }
        self.owners = owners
        self.workers = workers
    }

    package var shards: Int { owners.count }

    /// The index of the worker that serves `shard`; the first one's when there is no such shard.
    package func worker(of shard: Int) -> Int { owners[checked: shard] ?? 0 }

    /// The shards that `worker` serves, ascending.
    package func shards(of worker: Int) -> [Int] { owners.indices.filter { owners[$0] == worker } }
}
