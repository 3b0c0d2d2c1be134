import FarmPolicy
import Testing

struct ShardMapTests {
    /// The shards that change their worker from one map to another.
    private func moves(_ map: ShardMap, to next: ShardMap) -> [(shard: Int, from: Int, to: Int)] {
        (0..<map.shards).map { ($0, map.worker(of: $0), next.worker(of: $0)) }.filter { $0.from != $0.to }
    }

    private static let sizes = [
        (64, 1), (64, 2), (64, 3), (64, 5), (64, 7), (64, 64), (64, 100), (1, 3), (0, 2), (256, 48),
    ]

    @Test(arguments: sizes) func `every shard has one worker and the spread is even`(
        shards: Int, workers: Int
    ) {
        let map = ShardMap(shards: shards, workers: workers)
        let held = (0..<workers).map { map.shards(of: $0) }
        #expect(held.flatMap { $0 }.sorted() == Array(0..<shards))
        let counts = held.map(\.count)
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 1)
        for worker in 0..<workers { #expect(held[worker].allSatisfy { map.worker(of: $0) == worker }) }
    }

    @Test(arguments: 1...40) func `one more worker takes only its own share`(workers: Int) {
        let map = ShardMap(shards: 64, workers: workers)
        let more = ShardMap(shards: 64, workers: workers + 1)
        let moves = moves(map, to: more)
        #expect(moves.count == 64 / (workers + 1))
        #expect(moves.allSatisfy { $0.to == workers && $0.from < workers })
        let back = self.moves(more, to: map)
        #expect(back.map(\.shard) == moves.map(\.shard))
        #expect(back.allSatisfy { $0.from == workers })
    }

    @Test func `equal numbers give equal maps`() {
        #expect(ShardMap(shards: 64, workers: 5) == ShardMap(shards: 64, workers: 5))
        // All hosts of a farm must compute the same map, so these values must not change between versions.
        #expect(ShardMap(shards: 8, workers: 3).shards(of: 2) == [3, 4])
    }
}
