import FarmHarness
import Foundation
import RedisProtocol
import Testing

/// Redis is killed, or loses its last seconds of data.
@Suite(.startsProcesses(limit: .seconds(300))) struct RedisCrashTests {
    @Test func `a restart of a killed Redis under load loses no push`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["latency 20ms", "streams 100"]))
        _ = try await farm.ready()
        let tokens = Tokens.make(3_000)
        let jobs = Job.several("r", tokens, size: 500)
        try farm.push(jobs)
        try await farm.gateway.requests(600)
        try await farm.redis.crash()
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == tokens.count && totals.failed == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0)
        // A killed Redis loses no data that it has written, because the kernel still writes the data to disk.
        #expect(ledger.doubles <= totals.maybeDuplicated)
        #expect(!farm.coordinator.hasEnded)
    }

    /// Redis restarts without its last writes, as after a power failure. `away` is the number of seconds until the restart. After
    /// 12 seconds, workers no longer keep the outcomes that they have reported.
    @Test(arguments: [0, 12])
    func `workers report outcomes again to a Redis that lost its last writes`(away: Int) async throws {
        let farm = try await Farm(
            Farm.Options(faults: ["latency 500ms", "streams 60"], appLines: ["max_conns: 2"]))
        _ = try await farm.ready()
        let tokens = Tokens.make(6_000)
        let jobs = Job.several("b", tokens, size: 500)
        try farm.push(jobs)
        try await farm.gateway.requests(800)
        let (kept, sent) = try (Self.size(farm.redis.appendOnlyFile), farm.gateway.requestCount())
        try await farm.gateway.requests(sent + 600)
        try await farm.redis.kill()
        let file = farm.redis.appendOnlyFile
        #expect(try Self.size(file) > kept, "there is something to lose")
        let handle = try #require(FileHandle(forWritingAtPath: file))
        try handle.truncate(atOffset: kept)
        try handle.close()
        try farm.gateway.control("latency 20ms")
        try await Task.sleep(for: .seconds(away))
        try await farm.redis.restart()
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == tokens.count && totals.failed == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0 && ledger.doubles == 0)
        #expect(!farm.coordinator.hasEnded)
    }

    private static func size(_ path: String) throws -> UInt64 {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64 ?? 0
    }

    @Test(arguments: [
        [["SCRIPT", "FLUSH"]], [["CLIENT", "KILL", "TYPE", "normal"]],
        [["CLIENT", "KILL", "TYPE", "pubsub"]],
        [
            ["SCRIPT", "FLUSH"], ["CLIENT", "KILL", "TYPE", "normal"],
            ["CLIENT", "KILL", "TYPE", "pubsub"],
        ],
    ])
    func `the farm restores lost scripts and connections`(commands: [[String]]) async throws {
        let farm = try await Farm(Farm.Options(faults: ["latency 5ms"]))
        let tokens = Tokens.make(3_000)
        let jobs = Job.several("x", tokens, size: 250)
        for round in 0..<4 {
            try farm.push(Array(jobs[round * 3..<round * 3 + 3]))
            try await farm.gateway.requests(round * 750 + 200)
            for command in commands { try farm.redis.client().run(command + Self.skip(command)) }
        }
        let totals = try await farm.finished(jobs)
        #expect(totals.delivered == tokens.count && totals.failed == 0)
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0 && ledger.doubles == 0)
        #expect(!farm.coordinator.hasEnded)
    }

    @Test func `losing scripts and connections twenty times in a row loses no push`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["latency 10ms", "streams 50"]))
        _ = try await farm.ready()
        let jobs = Job.several("y", Tokens.make(4_000), size: 200)
        for round in 0..<20 {
            try farm.push([jobs[round]])
            let client = try farm.redis.client()
            try client.run("SCRIPT", "FLUSH")
            if round.isMultiple(of: 2) {
                try client.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            }
            try client.run("CLIENT", "KILL", "TYPE", "pubsub")
            try await farm.gateway.requests(round * 200 + 20)
        }
        try await farm.expectExactlyOnce(jobs)
    }

    @Test(arguments: ["everysec", "always"])
    func `repeated kills of Redis lose no push`(fsync: String) async throws {
        let farm = try await Farm(
            Farm.Options(
                faults: ["latency 20ms", "streams 50"], redisOptions: ["--appendfsync", fsync]))
        _ = try await farm.ready()
        let jobs = Job.several("q", Tokens.make(4_500), size: 500)
        for round in 0..<3 {
            try farm.push(Array(jobs[round * 3..<round * 3 + 3]))
            try await farm.gateway.requests(round * 1_500 + 300)
            try await farm.redis.crash()
        }
        try await farm.expectExactlyOnce(jobs)
    }

    private static func skip(_ command: [String]) -> [String] {
        command.first == "CLIENT" ? ["SKIPME", "yes"] : []
    }
}
