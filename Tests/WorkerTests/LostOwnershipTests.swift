import ControlChannel
import EventLoop
import LoopTesting
import Testing

@testable import Delivery
@testable import Worker

/// Shards that are withdrawn or taken over, batches that cannot be read, and a Redis that goes back in time.
@Suite(.timeLimit(.minutes(5))) struct LostOwnershipTests {
    @Test func `what comes back after another host has taken a shard is told, and nothing new of it is sent`()
        async throws
    {
        try await SenderFixture.run {
            $0.faults = ["latency 1500ms", "streams 60"]
        } _: { farm in
            var fenced: [String] = []
            farm.context.onFenced = { fenced.append($0) }
            try await farm.submit(Array(repeating: 100, count: 4))
            try farm.follow()
            #expect(await until { farm.sender.pool.openStreams >= 50 })
            for shard in 0..<4 { try await farm.takeOver(shard: shard) }
            #expect(await until { farm.sender.window.held.isEmpty && farm.sender.pool.openStreams == 0 })
            let accepted = farm.counters.accepted
            #expect(accepted >= 50 && accepted < 400 && fenced.contains("demo"))
            let results = try await farm.results()
            #expect(results == ["delivered": accepted])
            #expect(try await farm.audit() == [])
        }
    }

    @Test func `withdrawn shards are emptied in order, and the coordinator hears when they are`() async throws
    {
        try await SenderFixture.run {
            $0.faults = ["latency 1000ms", "streams 60"]
        } _: { farm in
            try await farm.submit(Array(repeating: 100, count: 4))
            try farm.follow()
            #expect(await until { farm.sender.pool.openStreams >= 50 })
            farm.sender.assign([:])
            var released: Set<UInt16> = []
            while released.count < 4 {
                guard case .released("demo", let shards) = try await farm.notices.next() else { continue }
                #expect(farm.sender.pool.openStreams == 0 || shards.count < 4)
                released.formUnion(shards)
            }
            #expect(farm.sender.isIdle)
            let accepted = farm.counters.accepted
            #expect(accepted < 400)
            let results = try await farm.results()
            #expect(results == ["delivered": accepted])
            #expect(try await farm.ids(in: "in_flight:") == [])
            #expect(try await farm.audit() == [])
            farm.assignAll()
            try await farm.finish()
            #expect(farm.counters.accepted == 400 && farm.repeated == 0)
        }
    }

    @Test func `shards that were empty are released at once`() async throws {
        try await SenderFixture.run { farm in
            try await farm.finish()
            farm.sender.assign([:])
            guard case .released("demo", let shards) = try await farm.notices.next() else {
                Issue.record("something else was told")
                return
            }
            #expect(shards == [0, 1, 2, 3])
        }
    }

    @Test func `a batch that cannot be read is parked with the reason, and the others go on`() async throws {
        try await SenderFixture.run { farm in
            farm.sender.pause()
            try await farm.submit([3, 4])
            let id = try #require(try await farm.ids(in: "ready:").first { $0.hasPrefix("00") })
            let body = try #require(try await farm.run("HGET", "{pushfarm:demo}:batches", id).bytes)
            try await farm.put(body: [99] + body.dropFirst(), of: id)
            farm.sender.resume()
            try farm.follow()
            try await farm.finish()
            #expect(try await farm.ids(in: "paused") == [id])
            #expect(try await farm.ids(in: "in_flight:") == [])
            let results = try await farm.results()
            #expect(results == ["delivered": 4])
            let events = try await farm.run("XREVRANGE", "{pushfarm:demo}:events", "+", "-", "COUNT", "1")
            let words = events.array?.first?.array?.last?.array?.compactMap(\.text) ?? []
            #expect(words.contains("batch.quarantined") && words.contains(id))
            #expect(words.contains { $0.contains("cannot be read") })
        }
    }

    @Test func `a Redis that goes back in time hears again what it was told, and nothing is sent twice`()
        async throws
    {
        try await SenderFixture.run {
            $0.faults = ["latency 20ms", "streams 60"]
        } _: { farm in
            try await farm.submit(Array(repeating: 100, count: 12))
            try farm.follow()
            #expect(await until { farm.counters.accepted >= 300 })
            try await farm.remember()
            #expect(await until { farm.counters.accepted >= 900 })
            try await farm.goBack()
            try await farm.finish()
            #expect(farm.counters.accepted == 1200 && farm.repeated == 0)
            let results = try await farm.results()
            #expect(results == ["delivered": 1200])
            #expect(try await farm.audit() == [])
            #expect(farm.sender.window.exposure == 0)
        }
    }

    @Test func `batches that were done before Redis went back are told of again`() async throws {
        try await SenderFixture.run { farm in
            try await farm.submit([100, 100, 100])
            try await farm.remember()
            try farm.follow()
            try await farm.finish()
            #expect(farm.counters.accepted == 300)
            // Now no batch was ever in a worker's hands.
            try await farm.goBack()
            try await farm.finish()
            #expect(farm.counters.accepted == 300 && farm.repeated == 0)
            let results = try await farm.results()
            #expect(results == ["delivered": 300])
            #expect(try await farm.audit() == [])
        }
    }
}
