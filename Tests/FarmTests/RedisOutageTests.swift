import FarmHarness
import Foundation
import RedisProtocol
import Testing

/// Redis is reachable but cannot do its work for a while.
@Suite(.startsProcesses) struct RedisOutageTests {
    @Test func `a Redis that closes idle connections does not disturb the farm`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["latency 5ms"]))
        _ = try await farm.ready()
        try farm.redis.client().run("CONFIG", "SET", "timeout", "1")
        let jobs = Job.several("i", Tokens.make(600), size: 200)
        for (round, job) in jobs.enumerated() {
            // The farm is idle for longer than the `timeout` after which Redis closes idle connections.
            try await Task.sleep(for: .milliseconds(2_500))
            try farm.push([job])
            try await farm.gateway.requests((round + 1) * 200)
        }
        try await farm.expectExactlyOnce(jobs)
    }

    @Test func `the farm waits while Redis is a replica and continues when it is a master`() async throws {
        let farm = try await Farm(Farm.Options(faults: ["latency 10ms", "streams 50"]))
        _ = try await farm.ready()
        let jobs = Job.several("m", Tokens.make(4_000), size: 500)
        try farm.push(jobs)
        for round in 0..<2 {
            try await farm.gateway.requests(400 + round * 1_000)
            let client = try farm.redis.client()
            // No master listens at this address. So Redis keeps its data and replies READONLY to writes.
            try client.run("CONFIG", "SET", "replica-serve-stale-data", "yes")
            try client.run("REPLICAOF", "127.0.0.1", "1")
            try await Task.sleep(for: .seconds(3))
            try client.run("REPLICAOF", "NO", "ONE")
        }
        try await farm.expectExactlyOnce(jobs)
    }

    @Test func `the farm stops sending while Redis is stopped, and the same owner continues`() async throws {
        // The gateway is slow, and the job has more pushes than workers hold, so there are always pushes to send.
        let farm = try await Farm(
            Farm.Options(faults: ["latency 200ms", "streams 20"], appLines: ["max_conns: 2"]))
        _ = try await farm.ready()
        let jobs = Job.several("z", Tokens.make(12_000), size: 2_000)
        try farm.push(jobs)
        try await farm.gateway.requests(500)
        let before = try farm.redis.client().run("HGETALL", "{pushfarm:demo}:owners").fields
        farm.redis.process.signal(SIGSTOP)
        // Redis is suspended for longer than a lease lasts, even if the clocks of host and Redis differ.
        try await Task.sleep(for: .seconds(12))
        let reached = try farm.gateway.ledger().lines.count
        try await Task.sleep(for: .seconds(2))
        #expect(try farm.gateway.ledger().lines.count == reached, "nothing is sent without a lease")
        #expect(reached < 12_000)
        try farm.gateway.control("latency 5ms")
        farm.redis.process.signal(SIGCONT)
        try await farm.expectExactlyOnce(jobs)
        let after = try farm.redis.client().run("HGETALL", "{pushfarm:demo}:owners").fields
        #expect(
            before.filter { !$0.key.hasPrefix("until") } == after.filter { !$0.key.hasPrefix("until") })
    }

    @Test(
        .enabled(if: SmallDisk.obstacle == nil, Comment(rawValue: SmallDisk.obstacle ?? "")),
        arguments: ["everysec", "always"])
    func `a full disk stops the farm until the disk has room`(fsync: String) async throws {
        let disk = try SmallDisk()
        let farm = try await Farm(
            Farm.Options(
                faults: ["latency 20ms", "streams 50"],
                redisOptions: ["--dir", disk.path, "--appendfsync", fsync]))
        _ = try await farm.ready()
        let jobs = Job.several("d", Tokens.make(3_000), size: 500)
        try farm.push(jobs)
        try await farm.gateway.requests(500)
        try disk.fill()
        if fsync == "always" {
            // Redis cannot write its append-only file, and exits.
            guard case .exited = try await farm.redis.process.wait() else {
                throw Overdue(description: "killed")
            }
            disk.free()
            try await farm.redis.restart()
        } else {
            // The disk gets room again only after all leases have expired.
            try await eventually("the leases run out", within: .seconds(40)) {
                farm.coordinator.error.contains("leases expired")
            }
            #expect(throws: RESPServerError.self) { try farm.redis.client().run("SET", "probe", "x") }
            disk.free()
        }
        try await farm.expectExactlyOnce(jobs)
        _ = disk
    }
}
