import ControlChannel
import EventLoop
import LoopTesting
import Testing

@testable import Delivery
@testable import Worker

/// Shards that are withdrawn or taken over, unreadable batches, and a Redis that returns to an earlier state.
@Suite(.timeLimit(.minutes(5))) struct LostOwnershipTests {
    @Test func `after a takeover outcomes are reported and no new push is sent`()
        async throws
    {
        try await SenderFixture.run {
            $0.faults = ["latency 1500ms", "streams 60"]
        } _: { farm in
            var fenced: [String] = []
            farm.context.onFenced = { fenced.append($0) }
            try await farm.submit(Array(repeating: 100, count: 4))
            try farm.apply()
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

    @Test func `withdrawn shards are drained in order and the coordinator gets a notice`() async throws {
        try await SenderFixture.run {
            $0.faults = ["latency 1000ms", "streams 60"]
        } _: { farm in
            try await farm.submit(Array(repeating: 100, count: 4))
            try farm.apply()
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

    @Test func `empty shards are released at once`() async throws {
        try await SenderFixture.run { farm in
            try await farm.finish()
            farm.sender.assign([:])
            guard case .released("demo", let shards) = try await farm.notices.next() else {
                Issue.record("another event was reported")
                return
            }
            #expect(shards == [0, 1, 2, 3])
        }
    }

    @Test func `an unreadable batch is quarantined with the reason and others continue`() async throws {
        try await SenderFixture.run { farm in
            farm.sender.pause()
            try await farm.submit([3, 4])
            let id = try #require(try await farm.ids(in: "ready:").first { $0.hasPrefix("00") })
            let body = try #require(try await farm.run("HGET", "{pushfarm:demo}:batches", id).bytes)
            try await farm.put(body: [99] + body.dropFirst(), of: id)
            farm.sender.resume()
            try farm.apply()
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

    @Test func `a restored Redis gets the reports again and nothing is sent twice`()
        async throws
    {
        try await SenderFixture.run {
            $0.faults = ["latency 20ms", "streams 60"]
        } _: { farm in
            try await farm.submit(Array(repeating: 100, count: 12))
            try farm.apply()
            #expect(await until { farm.counters.accepted >= 300 })
            try await farm.remember()
            #expect(await until { farm.counters.accepted >= 900 })
            try await farm.goBack()
            try await farm.finish()
            #expect(farm.counters.accepted == 1200 && farm.repeated == 0)
            let results = try await farm.results()
            #expect(results == ["delivered": 1200])
            #expect(try await farm.audit() == [])
            #expect(farm.sender.window.creditInUse == 0)
        }
    }

    @Test func `batches that finished before Redis was restored are reported again`() async throws {
        try await SenderFixture.run { farm in
            try await farm.submit([100, 100, 100])
            try await farm.remember()
            try farm.apply()
            try await farm.finish()
            #expect(farm.counters.accepted == 300)
            // Redis now has no record that a worker ever held a batch.
            try await farm.goBack()
            try await farm.finish()
            #expect(farm.counters.accepted == 300 && farm.repeated == 0)
            let results = try await farm.results()
            #expect(results == ["delivered": 300])
            #expect(try await farm.audit() == [])
        }
    }
}
