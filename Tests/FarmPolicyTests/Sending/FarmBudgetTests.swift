import FarmPolicy
import RandomTesting
import Testing

@Suite struct FarmBudgetTests {
    @Test(arguments: 1...200) func `shares of any division add up to the budget`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        let count = Int.random(in: 1...256, using: &random)
        let workers = Int.random(in: 1...12, using: &random)
        let budget = FarmBudget(
            rate: Double.random(in: 1...1e6, using: &random),
            bandwidth: Double.random(in: 1e3...1e9, using: &random),
            connections: Int.random(in: 1...300, using: &random))
        var held = Array(repeating: Set<Int>(), count: workers)
        for shard in 0..<count {
            // Some shards have no worker.
            guard !random.chance(8) else { continue }
            held[Int.random(in: 0..<workers, using: &random)].insert(shard)
        }
        let shares = held.filter { !$0.isEmpty }.map { budget.share(of: $0, among: count) }
        let part = Double(held.reduce(0) { $0 + $1.count }) / Double(count)
        #expect(abs(shares.reduce(0) { $0 + $1.rate! } - budget.rate! * part) < 1e-6 * budget.rate!)
        #expect(
            abs(shares.reduce(0) { $0 + $1.bandwidth! } - budget.bandwidth! * part) < 1e-6 * budget.bandwidth!
        )
        // Each worker gets a rate and at least one connection. If the budget has no connection for a worker, the worker gets one
        // in addition to the budget, and `isBeyond` is true.
        #expect(shares.allSatisfy { $0.rate! > 0 && $0.connections! > 0 })
        #expect(
            shares.reduce(0) { $0 + $1.connections! } - shares.count { $0.isBeyond } <= budget.connections!)
        let all = budget.share(of: Set(0..<count), among: count)
        #expect(
            (all.rate, all.bandwidth, all.connections) == (budget.rate, budget.bandwidth, budget.connections))
    }

    @Test(arguments: [(8, 64, 4), (4, 64, 4), (100, 64, 4), (2, 64, 4), (7, 5, 3)])
    func `connections are spread evenly`(connections: Int, count: Int, workers: Int) {
        let budget = FarmBudget(connections: connections)
        let map = ShardMap(shards: count, workers: workers)
        let shares = (0..<workers).map { budget.share(of: Set(map.shards(of: $0)), among: count) }
        #expect(shares.reduce(0) { $0 + $1.connections! } >= connections)
        let beyond = shares.count { $0.isBeyond }
        #expect(shares.reduce(0) { $0 + $1.connections! } == connections + beyond)
        if connections >= 2 * workers { #expect(beyond == 0) }
    }

    @Test func `without a budget there is no limit`() {
        #expect(FarmBudget().share(of: [1], among: 64) == FarmBudget.Share())
    }

    @Test func `a worker without shards has next to nothing`() {
        let share = FarmBudget(rate: 1000, connections: 4).share(of: [], among: 64)
        #expect(share.rate! > 0 && share.rate! < 0.01 && share.connections == 1 && !share.isBeyond)
    }
}
