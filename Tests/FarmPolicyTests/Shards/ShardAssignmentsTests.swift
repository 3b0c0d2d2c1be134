import FarmPolicy
import RandomTesting
import Testing

@Suite struct ShardAssignmentsTests {
    private var assignments = ShardAssignments()

    @Test mutating func `a shard is reassigned after its worker released it`() {
        #expect(assignments.give([1, 2], of: "demo", to: 0) == [1, 2])
        #expect(assignments.give([2], of: "demo", to: 1) == [])
        #expect(assignments.give([1], of: "demo", to: 0) == [1])
        #expect(assignments.worker(serving: 2, app: "demo") == 0)
        #expect(assignments.released([2], of: "demo", by: 0) == [2])
        #expect(assignments.worker(serving: 2, app: "demo") == nil)
        #expect(assignments.give([2], of: "demo", to: 1) == [2])
        #expect(assignments.give([2], of: "mail", to: 0) == [2], "another app's")
    }

    @Test mutating func `a worker keeps shards that return during their release`() {
        _ = assignments.give([1], of: "demo", to: 0)
        _ = assignments.give([], of: "demo", to: 0)
        #expect(assignments.give([1], of: "demo", to: 0) == [1])
        #expect(assignments.released([1], of: "demo", by: 0) == [])
        #expect(assignments.give([1], of: "demo", to: 1) == [])
    }

    @Test mutating func `an exited worker has no shards`() {
        _ = assignments.give([1], of: "demo", to: 0)
        _ = assignments.give([2], of: "mail", to: 0)
        _ = assignments.give([3], of: "mail", to: 1)
        #expect(!assignments.isEmpty(0))
        assignments.ended(0)
        #expect(assignments.isEmpty(0) && !assignments.isEmpty(1))
        assignments.forget("mail")
        #expect(assignments.isEmpty(1))
    }

    /// Even if workers execute orders late or crash, and the coordinator changes its orders, two workers never have the same
    /// shard.
    @Test(arguments: 1...40) mutating func `two workers never have the same shard`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        /// The next three lists have one element for each worker: the shards that the worker really has, its unread orders, and
        /// its unread notices.
        var has: [Set<Int>] = Array(repeating: [], count: 4)
        var orders: [[Set<Int>]] = Array(repeating: [], count: 4)
        var notices: [[Int]] = Array(repeating: [], count: 4)
        var target: [Int: Int] = [:]
        for _ in 0..<600 {
            let worker = Int.random(in: 0..<4, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                for shard in 0..<8 { target[shard] = Int.random(in: 0..<4, using: &random) }
                fallthrough
            case 1:
                // At most one order to a worker is in flight, because each change waits for the previous change.
                for worker in 0..<4 where orders[worker].isEmpty && notices[worker].isEmpty {
                    let given = assignments.give(
                        (0..<8).filter { target[$0] == worker }, of: "demo", to: worker)
                    orders[worker].append(given)
                }
            case 2...4:
                guard !orders[worker].isEmpty else { continue }
                let mine = orders[worker].removeFirst()
                notices[worker] += has[worker].subtracting(mine)
                has[worker] = mine
            case 5...6:
                let said = notices[worker]
                notices[worker] = []
                _ = assignments.released(said, of: "demo", by: worker)
            default:
                guard random.chance(4) else { continue }
                (has[worker], orders[worker], notices[worker]) = ([], [], [])
                assignments.ended(worker)
            }
            for shard in 0..<8 { #expect(has.count { $0.contains(shard) } <= 1) }
        }
    }
}
