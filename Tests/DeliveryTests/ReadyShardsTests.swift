import EventLoop
import LoopTesting
import RandomTesting
import StoreProtocol
import Testing

@testable import Delivery

@Suite struct ReadyShardsTests {
    @Loop private static func shards(_ numbers: some Sequence<Int>) -> CheckoutShards {
        let shards = CheckoutShards()
        shards.assign(
            Dictionary(uniqueKeysWithValues: numbers.map { ($0, FenceToken(Array("t\($0)".utf8))) }))
        return shards
    }

    @Test func `all shards are pending at first and quiet once taken`() async throws {
        try await onLoop { () async throws -> Void in
            let shards = Self.shards([3, 1, 2])
            let taken = shards.take(atMost: 16)
            #expect(taken.map(\.number) == [1, 2, 3])
            #expect(taken.map(\.token) == [1, 2, 3].map { FenceToken(Array("t\($0)".utf8)) })
            #expect(shards.hasNoPending() && shards.take(atMost: 16).isEmpty)
        }
    }

    @Test func `only assigned shards can be pending`() async throws {
        try await onLoop { () async throws -> Void in
            let shards = Self.shards([1])
            _ = shards.take(atMost: 9)
            shards.mayHaveBatches([0, 1, 2])
            #expect(shards.take(atMost: 9).map(\.number) == [1])
            shards.mayHaveBatches([1])
            shards.assign([:])
            #expect(shards.hasNoPending())
        }
    }

    @Test func `shards that always have more work do not delay the others`() async throws {
        try await onLoop { () async throws -> Void in
            let shards = Self.shards(0..<64)
            var turns: [Int: Int] = [:]
            for _ in 0..<40 {
                let taken = shards.take(atMost: 16).map(\.number)
                #expect(taken.count == 16 && Set(taken).count == 16)
                for number in taken { turns[number, default: 0] += 1 }
                shards.mayHaveBatches(taken)
            }
            #expect(turns.count == 64 && turns.values.allSatisfy { $0 == 10 })
        }
    }

    @Test func `a pending shard gets its turn within one round`() async throws {
        try await onLoop { () async throws -> Void in
            var random = SplitMix(seed: 7)
            let shards = Self.shards(0..<64)
            _ = shards.take(atMost: 64)
            var waiting: [Int: Int] = [:]
            for _ in 0..<2000 {
                let pending = (0..<20).map { _ in Int.random(in: 0..<64, using: &random) }
                shards.mayHaveBatches(pending)
                for number in pending where waiting[number] == nil { waiting[number] = 0 }
                for shard in shards.take(atMost: 16) { waiting[shard.number] = nil }
                for number in waiting.keys { waiting[number]! += 1 }
                #expect(waiting.values.allSatisfy { $0 <= 4 })
            }
        }
    }

    @Test func `bulk can be taken alone`() async throws {
        try await onLoop { () async throws -> Void in
            let shards = Self.shards([1, 2, 3])
            #expect(shards.take(atMost: 2, .bulkOnly).map(\.number) == [1, 2])
            #expect(!shards.hasNoPending(.bulkOnly) && !shards.hasNoPending(.highOnly))
            #expect(shards.take(atMost: 2, .bulkOnly).map(\.number) == [3] && shards.hasNoPending(.bulkOnly))
            #expect(shards.take(atMost: 9, .highOnly).map(\.number) == [1, 2, 3] && shards.hasNoPending())
        }
    }

    @Test func `work in one lane does not wake the other lane`() async throws {
        try await onLoop { () async throws -> Void in
            let shards = Self.shards([1, 2, 3])
            #expect(shards.take(atMost: 9, .highOnly).map(\.number) == [1, 2, 3])
            #expect(shards.hasNoPending(.highOnly) && !shards.hasNoPending())
            #expect(shards.take(atMost: 9).map(\.number) == [1, 2, 3])
            shards.mayHaveBatches([1], of: .bulk)
            shards.mayHaveBatches([2], of: .high)
            #expect(shards.take(atMost: 9, .highOnly).map(\.number) == [2])
            #expect(shards.take(atMost: 9).map(\.number) == [1])
            #expect(shards.hasNoPending())
        }
    }
}
