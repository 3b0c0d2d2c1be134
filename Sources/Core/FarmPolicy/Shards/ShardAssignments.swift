/// Which worker serves each shard: a shard goes to another worker only when its last worker has released it.
package struct ShardAssignments: Sendable {
    private struct Hand {
        let worker: Int
        /// The worker was ordered to serve it; otherwise it was ordered to release it.
        var isGiven: Bool
    }

    private var assignments: [String: [Int: Hand]] = [:]

    package init() {}

    /// The worker that has the shard, or has not yet released it.
    package func holder(of shard: Int, app: String) -> Int? { assignments[app]?[shard]?.worker }

    /// The worker has no shard.
    package func isEmpty(_ worker: Int) -> Bool {
        assignments.values.allSatisfy { shards in shards.values.allSatisfy { $0.worker != worker } }
    }

    /// The worker is to have these shards of an app from now on, and no others.
    /// - Returns: those of them that no other worker has: the worker is to serve these.
    package mutating func give(_ wanted: [Int], of app: String, to worker: Int) -> Set<Int> {
        var shards = assignments[app] ?? [:]
        for (shard, hand) in shards where hand.worker == worker { shards[shard]?.isGiven = false }
        var given: Set<Int> = []
        for shard in wanted where shards[shard].map({ $0.worker == worker }) ?? true {
            shards[shard] = Hand(worker: worker, isGiven: true)
            given.insert(shard)
        }
        assignments[app] = shards
        return given
    }

    /// The worker has released shards as ordered.
    /// - Returns: the shards that no worker has now.
    package mutating func released(_ shards: some Sequence<Int>, of app: String, by worker: Int) -> [Int] {
        shards.filter { shard in
            guard let hand = assignments[app]?[shard], hand.worker == worker, !hand.isGiven else {
                return false
            }
            assignments[app]?[shard] = nil
            return true
        }
    }

    /// The worker's process has exited, and its batches were reclaimed.
    package mutating func ended(_ worker: Int) {
        for (app, shards) in assignments { assignments[app] = shards.filter { $0.value.worker != worker } }
    }

    /// The app is not served any more.
    package mutating func forget(_ app: String) { assignments[app] = nil }
}
