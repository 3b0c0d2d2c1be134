import PushModel
import RedisProtocol
import Testing

@testable import RedisClient
@testable import StoreProtocol

/// Checks the age of the oldest waiting batch.
@Suite struct AgesTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func now() throws -> Int64 {
        let time = try fixture.redis.run("TIME").array?.compactMap { $0.text.flatMap { Int64($0) } } ?? []
        return time[0] * 1000 + time[1] / 1000
    }

    private func put(_ list: String, _ id: String) throws {
        try fixture.redis.run("RPUSH", "{pushfarm:demo}:\(list)", id)
    }

    private func ages() throws -> (high: Int?, bulk: Int?) {
        let request = ReadAges(shards: StoreFixture.shards)
        let reply = try fixture.perform(request)
        let plain = try fixture.redis.performPlainly(request, fixture.keys)
        for lane in Lane.allCases {
            #expect((plain[lane] == nil) == (reply[lane] == nil))
            // The plain request runs some milliseconds after the script, so its ages are a little higher.
            let step = (plain[lane] ?? .zero) - (reply[lane] ?? .zero)
            #expect(step >= .zero && step < .seconds(10))
        }
        func seconds(_ age: Duration?) -> Int? { age.map { Int($0.components.seconds) } }
        return (seconds(reply.high), seconds(reply.bulk))
    }

    private static func moment(_ milliseconds: Int64) -> String {
        let rest = String(milliseconds % 1000 * 1000, radix: 16)
        return String(milliseconds / 1000, radix: 16) + String(repeating: "0", count: 5 - rest.count) + rest
    }

    @Test func `an empty app has no age`() throws {
        let ages = try ages()
        #expect(ages.high == nil && ages.bulk == nil)
    }

    @Test func `the age is that of the oldest batch in the lane`() throws {
        let now = try now()
        try put("ready:00", "00.h.\(Self.moment(now - 60_000)).1")
        try put("ready:01", "01.h.\(Self.moment(now - 3_600_000)).1")
        try put("bulk:01", "01.b.\(Self.moment(now - 5_000)).1")
        var ages = try ages()
        #expect((3600...3610).contains(try #require(ages.high)))
        #expect((5...15).contains(try #require(ages.bulk)))
        // Batches that a worker has checked out count too.
        try put("in_flight:01", "01.b.\(Self.moment(now - 7_200_000)).2")
        ages = try self.ages()
        #expect((7200...7210).contains(try #require(ages.bulk)))
        #expect((3600...3610).contains(try #require(ages.high)))
    }

    @Test func `the age of a delayed batch starts at its due time and of a tried one at its report`() throws {
        let now = try now()
        try put("ready:00", "00.h.\(Self.moment(now - 86_400_000)).1.\(String(now - 30_000, radix: 16))")
        try put("bulk:00", "00.b.r\(now - 40_000)-3.1")
        let ages = try ages()
        #expect((30...40).contains(try #require(ages.high)))
        #expect((40...50).contains(try #require(ages.bulk)))
    }

    @Test func `depths are the same without a script`() throws {
        let depths = ReadDepths(shards: StoreFixture.shards)
        let empty = try fixture.redis.performPlainly(depths, fixture.keys)
        #expect(try empty == fixture.perform(depths))
        try fixture.fillAllLists()
        try fixture.perform(PushJob(job: Array("c".utf8)))
        let full = try fixture.redis.performPlainly(depths, fixture.keys)
        #expect(try full == fixture.perform(depths))
        #expect(full.open == 10 && full.inbox == 1 && full.delayed == 1 && full.shards[1].bulk == 1)
    }

    @Test func `split makes ids whose age starts at their due time`() throws {
        let now = try now()
        try fixture.split(step: 1, [("a", 1)], shard: 0, lane: .high)
        try fixture.split(step: 2, [("b", 1)], shard: 1, lane: .high, due: now + 500_000)
        let delayed = try fixture.redis.run("ZRANGE", "{pushfarm:demo}:delayed", "0", "0").array?.first?.bytes
        #expect(BatchID(try #require(delayed)).waitsSince == now + 500_000)
        let ready = try #require(try fixture.redis.run("LINDEX", "{pushfarm:demo}:ready:00", "0").bytes)
        let since = try #require(BatchID(ready).waitsSince)
        #expect((now...(now + 60_000)).contains(since))
        #expect(BatchID(Array("00.h.r1700000000000-0.1".utf8)).waitsSince == nil)
    }

    @Test func `ids of delayed batches differ even with the same due time`() throws {
        let due = try now() + 500_000
        for step in 1...3 {
            try fixture.split(step: step, [("j\(step)", 2)], shard: 0, lane: .high, due: due)
        }
        let ids = try fixture.redis.run("ZRANGE", "{pushfarm:demo}:delayed", "0", "-1").array?.compactMap(
            \.text)
        #expect(Set(ids ?? []).count == 3)
    }
}
