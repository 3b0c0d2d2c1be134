import BatchTesting
import EventLoop
import FarmPolicy
import LoopTesting
import PushModel
import RedisProtocol
import StoreProtocol
import Testing

@testable import Delivery
@testable import Worker

/// Checks that pushes to suppressed tokens do not reach the gateway, which counts all pushes.
@Suite(.timeLimit(.minutes(5))) struct SuppressionListsTests {
    private static let scope = SuppressionScope(environment: "here", topic: "com.example.demo")

    private static func entries(
        _ numbers: Range<Int>, _ reason: SuppressionReason? = .badDeviceToken
    ) -> [Suppress.Entry] {
        numbers.map { number in
            let record = SuppressionRecord(
                reason: reason, scope: scope.number, time: 1_700_000_000, token: Batches.token(number)[...])
            // The first batch of each job belongs to shard 0, because `SenderFixture` distributes the batches of a job to the
            // shards in turn.
            return Suppress.Entry(shard: 0, record: record)
        }
    }

    @Test func `a shard waits until all its suppressed tokens are known`() async throws {
        try await SenderFixture.run { farm in
            farm.sender.assign([:])
            for start in stride(from: 0, to: 5000, by: 1000) {
                _ = try await farm.sender.store.perform(
                    Suppress(
                        Self.entries(start..<start + 1000), scopes: [Self.scope], writer: "t", step: start + 1
                    ))
            }
            try farm.apply(environment: "here")
            try await farm.submit([200])
            farm.assignAll()
            #expect(!farm.sender.suppressionLists.isLoaded(0) && farm.sender.window.shards.tokens.isEmpty)
            #expect(await until { farm.sender.suppressionLists.isWhole })
            try await farm.finish()
            #expect(farm.counters.accepted == 0)
            #expect(try await farm.results() == ["failed": 200])
        }
    }

    @Test func `added and removed records take effect with a wake-up or the next check`()
        async throws
    {
        try await SenderFixture.run { farm in
            try farm.apply(environment: "here")
            try await farm.submit([100])
            try await farm.finish()
            #expect(farm.counters.accepted == 100)

            let store = farm.sender.store
            _ = try await store.perform(
                Suppress(Self.entries(100..<150), scopes: [Self.scope], writer: "t", step: 1))
            farm.sender.suppressionLists.readNewEntries(of: [0])
            #expect(await until { farm.sender.suppressionLists.list(of: 0)?.table.count == 50 })
            try await farm.submit([100])
            try await farm.finish()
            #expect(farm.counters.accepted == 150)

            _ = try await store.perform(
                Suppress(Self.entries(100..<150, nil), scopes: [Self.scope], writer: "t", step: 2))
            _ = try await store.perform(
                Suppress(Self.entries(200..<210), scopes: [Self.scope], writer: "t", step: 3))
            farm.sender.searchBatches()
            #expect(await until { farm.sender.suppressionLists.list(of: 0)?.table.count == 10 })
            try await farm.submit([100])
            try await farm.finish()
            #expect(farm.counters.accepted == 240)
        }
    }

    @Test
    func `a worker that missed the pause forgets only the records that the guard removes`()
        async throws
    {
        try await SenderFixture.run { farm in
            try farm.apply(environment: "here")
            let store = farm.sender.store
            for start in stride(from: 0, to: 3000, by: 1000) {
                _ = try await store.perform(
                    Suppress(
                        Self.entries(start..<start + 1000), scopes: [Self.scope], writer: "t", step: start + 1
                    ))
            }
            @Loop func known() -> Int? { farm.sender.suppressionLists.list(of: 0)?.table.count }
            farm.sender.searchBatches()
            #expect(await until { known() == 3000 })
            let lines = try await store.perform(ReadSuppressed(shard: 0, count: 20))
            for line in lines {
                _ = try await farm.run("XDEL", "{pushfarm:demo}:suppressed:00", line.id.description)
            }
            _ = try await farm.run("HINCRBY", "{pushfarm:demo}:suppression", "taken_back", "1")
            farm.sender.searchBatches()
            var least = 3000
            #expect(
                await until {
                    least = min(least, known() ?? 0)
                    return known() == 2980
                })
            #expect(least == 2980, "what is dead is so while the list is read again")
            try await farm.submit([40])
            try await farm.finish()
            #expect(farm.counters.accepted == 20)
        }
    }

    @Test func `a Redis that lost its last seconds is read again from an earlier point`() async throws {
        try await SenderFixture.run { farm in
            try farm.apply(environment: "here")
            let (store, key) = (farm.sender.store, "{pushfarm:demo}:suppressed:00")
            @Loop func known() -> Int? { farm.sender.suppressionLists.list(of: 0)?.table.count }
            _ = try await store.perform(
                Suppress(Self.entries(0..<10), scopes: [Self.scope], writer: "t", step: 1))
            farm.sender.searchBatches()
            #expect(await until { known() == 10 })
            // After Redis has lost data, new records may get stream ids that the worker has already read.
            _ = try await store.perform(
                Suppress(Self.entries(10..<15), scopes: [Self.scope], writer: "t", step: 2))
            let lines = try await farm.run("XRANGE", key, "-", "+").array ?? []
            let last = try #require(lines.last?.array)
            let read = try #require(lines.first?.array?.first?.text?.split(separator: "-").first)
            let milliseconds = try #require(Int(read))
            _ = try await farm.run("DEL", key)
            for (index, line) in lines.suffix(5).enumerated() {
                var command = RESPCommand()
                for word in ["XADD", key, "\(milliseconds - 60_000)-\(index + 1)"] { command.append(word) }
                for field in line.array?.last?.array ?? [] { command.append(field.bytes ?? []) }
                _ = try await farm.redis.call(command)
            }
            #expect(last.count == 2)
            farm.sender.reconnected(isOther: true)
            #expect(await until { known() == 15 }, "\(known() ?? 0)")
        }
    }

    @Test func `a pause drops records that were not confirmed`() async throws {
        try await SenderFixture.run { farm in
            try farm.apply(environment: "here")
            let dead = Self.entries(0..<10)
            #expect(await until { farm.sender.suppressionLists.isWhole })
            let now = farm.redis.clock.seconds
            for record in dead.compactMap(\.record) {
                farm.sender.suppressionLists.note(record, of: 0, at: now)
            }
            #expect(farm.sender.suppressionLists.list(of: 0)?.table.count == 10)
            farm.sender.pause()
            farm.sender.resume()
            #expect(await until { farm.sender.suspension == nil })
            try await farm.submit([10])
            try await farm.finish()
            #expect(farm.counters.accepted == 10)
        }
    }

    @Test(arguments: [("400 reason=BadDeviceToken", false), ("410 reason=Unregistered", true)])
    func `responses during a pause count only if the environment cannot cause them`(
        answer: String, counts: Bool
    ) async throws {
        try await SenderFixture.run {
            $0.firstStreamAlone = false
        } _: { farm in
            try farm.order("latency 500ms")
            try farm.order("answer \(answer)")
            try farm.apply(environment: "here")
            try await farm.submit([20])
            var atPause = 0
            #expect(
                await until {
                    guard farm.sender.pool.openStreams > 10 else { return false }
                    farm.sender.pause()
                    atPause = farm.sender.pool.openStreams
                    return true
                })
            #expect(atPause > 10)
            #expect(await until { farm.sender.pool.openStreams == 0 })
            #expect(await until { farm.sender.suppressionLists.isWhole })
            let known = farm.sender.suppressionLists.list(of: 0)?.table.count ?? 0
            #expect(counts ? known > 10 : known == 0)
        }
    }

    @Test(arguments: [("400 reason=BadDeviceToken", false), ("410 reason=Unregistered", true)])
    func `bad tokens are not suppressed until they are confirmed`(
        answer: String, counts: Bool
    ) async throws {
        try await SenderFixture.run { farm in
            _ = try await farm.run("HSET", "{pushfarm:demo}:suppression", "holding", "1")
            try farm.order("answer \(answer)")
            try farm.apply(environment: "here")
            farm.sender.searchBatches()
            #expect(await until { farm.sender.suppressionLists.holdsUnconfirmed })
            try await farm.submit([20])
            try await farm.finish()
            #expect((farm.sender.suppressionLists.list(of: 0)?.table.count ?? 0) == (counts ? 20 : 0))
            _ = try await farm.run("HDEL", "{pushfarm:demo}:suppression", "holding")
            farm.sender.searchBatches()
            #expect(await until { !farm.sender.suppressionLists.holdsUnconfirmed })
        }
    }

    @Test func `a Redis that refuses the list does not delay pushes`() async throws {
        try await SenderFixture.run { farm in
            farm.sender.assign([:])
            _ = try await farm.run("SET", "{pushfarm:demo}:suppression", "no hash")
            try farm.apply(environment: "here")
            try await farm.submit([20])
            farm.assignAll()
            #expect(await until { farm.sender.suppressionLists.isWhole })
            try await farm.finish()
            #expect(farm.counters.accepted == 20)
        }
    }
}
